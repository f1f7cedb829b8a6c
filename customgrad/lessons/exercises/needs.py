"""The exercise needs: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    MatMul = solved("needs").MatMul
    # --8<-- [start:run]

    a = torch.tensor([[1.0, 2.0]], requires_grad=True)
    b = torch.tensor([[3.0], [4.0]])
    MatMul.apply(a, b).backward(torch.tensor([[10.0]]))
    print("gradient of a", a.grad.tolist())
    print("gradient of b", b.grad)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("needs").mutant("always-both")
    print(grade("needs", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
