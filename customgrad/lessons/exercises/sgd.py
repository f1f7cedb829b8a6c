"""The exercise sgd: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    SGD = solved("sgd").SGD
    # --8<-- [start:run]

    w = torch.tensor([1.0, -1.0], requires_grad=True)
    optimizer = SGD([w], lr=0.1, momentum=0.5, nesterov=True)
    for step in (1, 2, 3):
        w.grad = torch.tensor([1.0, 2.0])
        optimizer.step()
        print(step, w.detach())
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("sgd").mutant("climbs")
    print(grade("sgd", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
