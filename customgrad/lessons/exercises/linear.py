"""The exercise linear: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Linear = solved("linear").Linear
    # --8<-- [start:run]

    x = torch.tensor([[1.0, 2.0, 3.0]])
    weight = torch.tensor([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
    bias = torch.tensor([0.5, -0.5])
    leaves = [t.requires_grad_() for t in (x, weight, bias)]
    y = Linear.apply(*leaves)
    y.backward(torch.tensor([[10.0, 1.0]]))
    print("output    ", y.tolist())
    for name, t in zip(("x", "weight", "bias"), leaves, strict=True):
        print(f"{name:10}", t.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("linear").mutant("weight-gradient-transposed")
    print(grade("linear", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
