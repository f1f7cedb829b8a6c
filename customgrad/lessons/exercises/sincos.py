"""The exercise sincos: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    SinCos = solved("sincos").SinCos
    # --8<-- [start:run]

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    sin, cos = SinCos.apply(x)
    (3 * sin).sum().backward()
    print("sine    ", sin.detach())
    print("cosine  ", cos.detach())
    print("gradient", x.grad)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("sincos").mutant("plus-for-minus")
    print(grade("sincos", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
