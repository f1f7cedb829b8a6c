"""The exercise debugshape: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Gain = solved("debugshape").Gain
    # --8<-- [start:run]

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    gain = torch.tensor([[10.0, 100.0]], requires_grad=True)
    Gain.apply(x, gain).backward(torch.ones(2, 2))
    print("gradient of x   ", x.grad.tolist())
    print("gradient of gain", gain.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("debugshape").mutant("averages")
    print(grade("debugshape", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
