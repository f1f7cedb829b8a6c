"""The exercise softplus: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Softplus = solved("softplus").Softplus
    # --8<-- [start:run]

    x = torch.tensor([-800.0, 0.0, 800.0], requires_grad=True)
    y = Softplus.apply(x)
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print("output  ", y.detach())
    print("gradient", x.grad)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("softplus").mutant("overflows")
    print(grade("softplus", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
