"""The exercise debugresidual: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    HardTanh = solved("debugresidual").HardTanh
    # --8<-- [start:run]

    x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    y = HardTanh.apply(x) + x
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print("gradient", x.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("debugresidual").mutant("detached")
    print(grade("debugresidual", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
