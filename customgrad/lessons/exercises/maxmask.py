"""The exercise maxmask: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    MaxMask = solved("maxmask").MaxMask
    # --8<-- [start:run]

    x = torch.tensor([[1.0, 5.0, 3.0]], requires_grad=True)
    largest, mask = MaxMask.apply(x)
    largest.backward(torch.tensor([10.0]))
    print("largest ", largest.tolist())
    print("mask    ", mask.tolist(), mask.requires_grad)
    print("gradient", x.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("maxmask").mutant("not-marked")
    print(grade("maxmask", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
