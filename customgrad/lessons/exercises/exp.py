"""The exercise exp: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Exp = solved("exp").Exp
    # --8<-- [start:run]

    x = torch.tensor([0.0, 1.0, -1.0], requires_grad=True)
    y = Exp.apply(x)
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print("output  ", y.detach())
    print("gradient", x.grad)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("exp").mutant("input-for-output")
    print(grade("exp", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
