"""The exercise debugcount: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    ScaledTanh = solved("debugcount").ScaledTanh
    # --8<-- [start:run]

    x = torch.tensor([0.0], requires_grad=True)
    y = ScaledTanh.apply(x, 2.0, 1.0)
    y.backward(torch.tensor([10.0]))
    print("output  ", y.tolist())
    print("gradient", x.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("debugcount").mutant("gradients-for-numbers")
    print(grade("debugcount", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
