"""The exercise freeze: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    train_head = solved("freeze").train_head
    # --8<-- [start:run]

    torch.manual_seed(0)
    model = torch.nn.Module()
    norm = torch.nn.BatchNorm1d(3)
    model.backbone = torch.nn.Sequential(torch.nn.Linear(2, 3), norm)
    model.head = torch.nn.Linear(3, 1)
    model.forward = lambda x: model.head(model.backbone(x))
    before = {k: v.clone() for k, v in model.state_dict().items()}
    train_head(model, [(torch.randn(8, 2), torch.randn(8, 1))], lr=0.1)
    for name, value in model.state_dict().items():
        same = torch.equal(value, before[name])
        print(f"{name:36}", "same" if same else "changed")
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("freeze").mutant("no-eval")
    print(grade("freeze", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
