"""The exercise leaky: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    LeakyReLU = solved("leaky").LeakyReLU
    # --8<-- [start:run]

    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    y = LeakyReLU.apply(x, 0.5)
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print("output  ", y.tolist())
    print("gradient", x.grad.tolist())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("leaky").mutant("zero-for-negative")
    print(grade("leaky", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
