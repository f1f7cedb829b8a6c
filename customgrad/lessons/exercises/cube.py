"""The exercise cube: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Cube = solved("cube").Cube
    # --8<-- [start:run]

    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = Cube.apply(x).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    print("first ", first.tolist())
    print("second", second.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("cube").mutant("forgets-the-three")
    print(grade("cube", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
