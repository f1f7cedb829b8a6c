"""The exercise rounding: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    RoundSTE = solved("rounding").RoundSTE
    # --8<-- [start:run]

    x = torch.tensor([-1.5, 0.4, 2.6], requires_grad=True)
    y = RoundSTE.apply(x)
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print("output  ", y.tolist())
    print("gradient", x.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("rounding").mutant("true-derivative")
    print(grade("rounding", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
