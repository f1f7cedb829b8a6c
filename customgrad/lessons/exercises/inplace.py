"""The exercise inplace: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Scale_ = solved("inplace").Scale_
    # --8<-- [start:run]

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    y = Scale_.apply(h, 3.0)
    print("itself  ", y is h, h.tolist())
    h.sum().backward()
    print("gradient", x.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("inplace").mutant("not-marked")
    print(grade("inplace", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
