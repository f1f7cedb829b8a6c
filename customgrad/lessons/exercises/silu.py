"""The exercise silu: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    SiLU = solved("silu").SiLU
    # --8<-- [start:run]

    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    y = SiLU.apply(x)
    y.backward(torch.ones(3))
    print("output  ", y.detach())
    print("gradient", x.grad)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("silu").mutant("first-term-only")
    print(grade("silu", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
