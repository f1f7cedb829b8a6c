"""The cross-entropy exercise: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    SoftmaxCrossEntropy = solved("crossentropy").SoftmaxCrossEntropy
    # --8<-- [start:run]

    logits = torch.tensor([[800.0, 0.0, -800.0], [1.0, 1.0, 1.0]])
    logits.requires_grad_()
    loss = SoftmaxCrossEntropy.apply(logits, torch.tensor([1, 2]))
    loss.backward()
    print(f"loss {loss.item():.3f}")
    print(logits.grad)
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("crossentropy").mutant("logarithm-of-zero")
    print(grade("crossentropy", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
