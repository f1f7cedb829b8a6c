"""Step 1 of custom backprop: the linear layer as a Function."""


def shapes():
    # --8<-- [start:shapes]
    import torch

    X = torch.ones(4, 3)  # N = 4 examples of in = 3 numbers
    W = torch.ones(2, 3)  # out = 2 rows of in = 3 weights
    b = torch.ones(2)
    Y = X @ W.T + b
    G = torch.ones(4, 2)  # the gradient of the loss, in the shape of Y

    print("Y        ", tuple(Y.shape))
    print("G W      ", tuple((G @ W).shape), "for X", tuple(X.shape))
    print("Gᵀ X     ", tuple((G.T @ X).shape), "for W", tuple(W.shape))
    print("sum of G ", tuple(G.sum(0).shape), "  for b", tuple(b.shape))
    # --8<-- [end:shapes]


def compare():
    # --8<-- [start:compare]
    import torch
    from customgrad.functions import Linear

    X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    W = torch.tensor([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
    b = torch.tensor([10.0, 20.0])
    for tensor in (X, W, b):
        tensor.requires_grad_()
    G = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    ours = Linear.apply(X, W, b)
    torchs = torch.nn.functional.linear(X, W, b)
    print("output", ours.tolist(), torch.equal(ours, torchs))

    grads = torch.autograd.grad(ours, (X, W, b), G)
    wanted = torch.autograd.grad(torchs, (X, W, b), G)
    for i, name in enumerate("XWb"):
        same = torch.equal(grads[i], wanted[i])
        print("grad", name, grads[i].tolist(), same)
    # --8<-- [end:compare]


def check():
    # --8<-- [start:check]
    import torch
    from customgrad.functions import Linear
    from torch.autograd import gradcheck, gradgradcheck

    torch.manual_seed(0)
    double = {"dtype": torch.float64, "requires_grad": True}
    X = torch.randn(2, 4, 3, **double)  # two leading dimensions
    W = torch.randn(5, 3, **double)
    b = torch.randn(5, **double)

    print("output   ", tuple(Linear.apply(X, W, b).shape))
    print("first    ", gradcheck(Linear.apply, (X, W, b)))
    print("second   ", gradgradcheck(Linear.apply, (X, W, b)))
    # --8<-- [end:check]


def needed():
    # --8<-- [start:needed]
    import torch
    from customgrad.functions import Linear

    def shape(t):
        return "None" if t is None else tuple(t.shape)

    for frozen in ["nothing", "X", "W"]:
        X = torch.ones(4, 3, requires_grad=frozen != "X")
        W = torch.ones(2, 3, requires_grad=frozen != "W")
        node = Linear.apply(X, W).grad_fn
        grads = Linear.backward(node, torch.ones(4, 2))
        print("frozen:", frozen)
        print("  needs   ", *node.needs_input_grad)
        print("  saved   ", *map(shape, node.saved_tensors))
        print("  returned", *map(shape, grads))
    # --8<-- [end:needed]


def main():
    shapes()
    compare()
    check()
    needed()


if __name__ == "__main__":
    main()
