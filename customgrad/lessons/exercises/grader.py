"""How the grader thinks: a known mistake, a relation between numbers, and no guess."""


def known():
    # --8<-- [start:known]
    from customgrad.exercises import grade, problem

    mutant = problem("relu").mutant("masks-by-grad-output")
    print(grade("relu", mutant.source))
    # --8<-- [end:known]


def other():
    # --8<-- [start:other]
    from customgrad.exercises import grade

    answer = """
    import torch

    class CustomReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.where(x > 0, x, torch.zeros_like(x))

        @staticmethod
        def backward(ctx, g):
            return torch.where(g < 0, 0 * g, g)
    """
    print(grade("relu", answer))
    # --8<-- [end:other]


def relation():
    # --8<-- [start:relation]
    from customgrad.exercises import grade

    answer = """
    import torch

    class CustomReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, g):
            return -0.5 * g * (ctx.saved_tensors[0] > 0)
    """
    print(grade("relu", answer))
    # --8<-- [end:relation]


def unknown():
    # --8<-- [start:unknown]
    from customgrad.exercises import grade

    answer = """
    import torch

    class CustomReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, g):
            return g.sin() * ctx.saved_tensors[0].cos()
    """
    print(grade("relu", answer))
    # --8<-- [end:unknown]


def dodge():
    # --8<-- [start:dodge]
    from customgrad.exercises import grade

    answer = """
    import torch

    class CustomReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.relu(x)

        @staticmethod
        def backward(ctx, g):
            return g * (ctx.saved_tensors[0] > 0)
    """
    print(grade("relu", answer))
    # --8<-- [end:dodge]


def main():
    known()
    other()
    relation()
    unknown()
    dodge()


if __name__ == "__main__":
    main()
