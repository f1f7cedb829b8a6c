"""The exercise multiply: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Multiply = solved("multiply").Multiply
    # --8<-- [start:run]

    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = torch.tensor([10.0, 100.0], requires_grad=True)
    Multiply.apply(a, b).backward(torch.ones(2, 2))
    print("gradient of a", a.grad.tolist())
    print("gradient of b", b.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("multiply").mutant("swaps")
    print(grade("multiply", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
