"""The exercise debugsecond: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Swish = solved("debugsecond").Swish
    # --8<-- [start:run]

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = Swish.apply(x).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    print("first ", first.detach())
    print("second", second)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("debugsecond").mutant("slope-saved")
    print(grade("debugsecond", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
