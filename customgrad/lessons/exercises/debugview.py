"""The exercise debugview: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Softsign = solved("debugview").Softsign
    # --8<-- [start:run]

    x = torch.tensor([[1.0, -3.0], [0.0, 1.0]]).T.requires_grad_()
    y = Softsign.apply(x)
    y.sum().backward()
    print("output  ", y.tolist())
    print("gradient", x.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("debugview").mutant("forward-alone")
    print(grade("debugview", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
