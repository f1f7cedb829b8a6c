"""The exercise modern: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    ScaledCube = solved("modern").ScaledCube
    # --8<-- [start:run]

    x = torch.tensor(2.0)
    cube = lambda x: ScaledCube.apply(x, 0.5)
    print("slope ", torch.func.grad(cube)(x).item())
    print("second", torch.func.grad(torch.func.grad(cube))(x).item())
    print("mapped", torch.vmap(cube)(torch.arange(3.0)).tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("modern").mutant("still-combined")
    print(grade("modern", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
