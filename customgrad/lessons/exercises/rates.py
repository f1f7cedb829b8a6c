"""The exercise rates: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    by_layer = solved("rates").by_layer
    # --8<-- [start:run]

    first, last = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
    model = torch.nn.Sequential(first, torch.nn.ReLU(), last)
    optimizer = by_layer(model, lr=0.1, factor=0.5)
    for group in optimizer.param_groups:
        print(group["lr"], [list(p.shape) for p in group["params"]])
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("rates").mutant("one-rate")
    print(grade("rates", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
