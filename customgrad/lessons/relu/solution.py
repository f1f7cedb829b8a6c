"""The ReLU problem, solved: each step, its edge cases, and what it costs."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


def candidates():
    # --8<-- [start:candidates]
    import torch

    inf, nan = float("inf"), float("nan")
    ways = {
        "torch.relu": torch.relu,
        "clamp": lambda x: x.clamp(min=0),
        "maximum": lambda x: torch.maximum(x, torch.zeros_like(x)),
        "where": lambda x: torch.where(x > 0, x, 0.0),
        "product": lambda x: x * (x > 0),
    }

    def row(name, tensor):
        cells = [f"{value:6}" for value in tensor.tolist()]
        print(f"{name:12}", *cells)

    x = torch.tensor([-2.0, -0.0, 0.0, 3.0, nan, inf, -inf])
    row("x", x)
    print("-- values")
    for name, relu in ways.items():
        row(name, relu(x))
    print("-- gradients, for a cotangent of 10")
    for name, relu in ways.items():
        x.grad = None
        relu(x.requires_grad_()).backward(torch.full((7,), 10.0))
        row(name, x.grad)
    # --8<-- [end:candidates]


def run():
    # --8<-- [start:run]
    import torch
    from customgrad.functions import CustomReLU

    x = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
    output = CustomReLU.apply(x)
    output.backward(torch.tensor([10.0, 20.0, 30.0, 40.0, 50.0]))
    print("output", output.tolist())
    print("x.grad", x.grad.tolist())
    # --8<-- [end:run]


def special():
    # --8<-- [start:special]
    import torch
    from customgrad.functions import CustomReLU

    inf, nan = float("inf"), float("nan")
    x = torch.tensor([-0.0, nan, inf, -inf, -2.0], requires_grad=True)
    grad_output = torch.tensor([10.0, 20.0, 30.0, 40.0, inf])

    def row(name, tensor):
        print(f"{name:12}", *[f"{value:5}" for value in tensor.tolist()])

    row("x", x)
    row("grad_output", grad_output)
    both = {"custom": CustomReLU.apply, "torch": torch.relu}
    for name, relu in both.items():
        output = relu(x)
        (grad,) = torch.autograd.grad(output, x, grad_output)
        print("--", name)
        row("output", output)
        row("gradient", grad)
    # --8<-- [end:special]


def shapes():
    # --8<-- [start:shapes]
    import torch
    from customgrad.functions import CustomReLU

    x = torch.tensor([[-1.0, 2.0, -3.0], [4.0, -5.0, 6.0]])
    cases = {
        "0-d": torch.tensor(-1.5),
        "empty": torch.empty(0, 3),
        "transposed": x.t(),
        "every second": x[:, ::2],
        "expanded": x[:, :1].expand(2, 4),
        "bfloat16": x.bfloat16(),
    }
    for name, case in cases.items():
        case = case.detach().requires_grad_()
        G = 10 * case.detach() + 7  # another number for each element
        (grad,) = torch.autograd.grad(CustomReLU.apply(case), case, G)
        (want,) = torch.autograd.grad(torch.relu(case), case, G)
        same = torch.equal(grad, want)
        print(f"{name:13}{tuple(case.shape)!s:8}", same)
    # --8<-- [end:shapes]


def integers():
    # --8<-- [start:integers]
    import textwrap

    import torch
    from customgrad.functions import CustomReLU

    for x in torch.tensor([-1, 2]), torch.tensor([True, False]):
        try:
            CustomReLU.apply(x)
        except TypeError as error:
            print(textwrap.fill(str(error), 72))
    # --8<-- [end:integers]


# --8<-- [start:variants]
class SaveOutput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        output = input.clamp(min=0)
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        (output,) = ctx.saved_tensors
        return grad_output.masked_fill(output <= 0, 0)


class SaveMask(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input <= 0)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (flat,) = ctx.saved_tensors
        return grad_output.masked_fill(flat, 0)


# --8<-- [end:variants]


def memory():
    # --8<-- [start:memory]
    import torch
    from customgrad.functions import CustomReLU
    from customgrad.lessons.relu.solution import SaveMask, SaveOutput

    x = torch.ones(32, 64, requires_grad=True)
    weight = torch.ones(64, 64, requires_grad=True)

    def network(relu):
        return relu(x @ weight) @ weight

    def kept(function, argument):
        """Bytes kept for backward, each buffer counted once."""
        buffers = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            buffers[storage.data_ptr()] = storage
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            function(argument)
        return sum(storage.nbytes() for storage in buffers.values())

    without = kept(network, lambda hidden: hidden)
    print("bytes per element  alone  between two layers")
    for name, relu in {
        "input": CustomReLU.apply,
        "output": SaveOutput.apply,
        "mask": SaveMask.apply,
        "torch.relu": torch.relu,
    }.items():
        alone = kept(relu, x) / x.numel()
        between = (kept(network, relu) - without) / x.numel()
        print(f"{name:17}{alone:7.0f}{between:20.0f}")
    # --8<-- [end:memory]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import CustomReLU

    x = torch.tensor([-1.0, 3.0], dtype=torch.float64, requires_grad=True)
    loss = (CustomReLU.apply(x) ** 3).sum()
    (first,) = torch.autograd.grad(loss, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    print("first ", first.tolist())
    print("second", second.tolist())
    for check in torch.autograd.gradcheck, torch.autograd.gradgradcheck:
        print(f"{check.__name__:13}", check(CustomReLU.apply, x))
    # --8<-- [end:twice]


def main():
    candidates()
    run()
    special()
    shapes()
    integers()
    memory()
    twice()


if __name__ == "__main__":
    main()
