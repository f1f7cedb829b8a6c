"""The exercise debugleak: what a right answer gives, and what is said of a wrong one."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.exercises import solved

    Sigmoid = solved("debugleak").Sigmoid
    # --8<-- [start:run]

    import gc
    import weakref

    gc.disable()
    x = torch.zeros(3, requires_grad=True)
    y = Sigmoid.apply(x)
    seen = weakref.ref(y.grad_fn)
    del y
    print("freed", seen() is None)
    gc.enable()
    # --8<-- [end:run]
    # --8<-- [end:example]


def check():
    # --8<-- [start:check]
    from customgrad.exercises import grade, problem

    wrong = problem("debugleak").mutant("in-a-list")
    print(grade("debugleak", wrong.source))
    # --8<-- [end:check]


def main():
    example()
    check()
    example()


if __name__ == "__main__":
    main()
