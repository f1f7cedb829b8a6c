"""The exercise decay: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    make_optimizer = solved("decay").make_optimizer
    # --8<-- [start:run]

    norm = torch.nn.LayerNorm(3)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), norm)
    optimizer = make_optimizer(model, lr=0.1, weight_decay=0.01)
    names = {id(p): name for name, p in model.named_parameters()}
    for group in optimizer.param_groups:
        inside = [names[id(p)] for p in group["params"]]
        print(group["weight_decay"], inside)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("decay").mutant("no-decay")
    print(grade("decay", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
