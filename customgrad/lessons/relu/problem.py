"""The ReLU problem: its worked example, and each constraint broken once."""


def example():
    # --8<-- [start:example]
    import torch
    from customgrad.functions import CustomReLU

    x = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
    grad_output = torch.tensor([10.0, 20.0, 30.0, 40.0, 50.0])
    output = CustomReLU.apply(x)
    output.backward(grad_output)
    for name, tensor in {
        "x": x,
        "grad_output": grad_output,
        "output": output,
        "gradient": x.grad,
    }.items():
        print(f"{name:12}", *[f"{value:5}" for value in tensor.tolist()])
    # --8<-- [end:example]


def demo():
    # --8<-- [start:demo]
    from customgrad.functions import custom_relu_demo

    print(custom_relu_demo())
    # --8<-- [end:demo]


def constraints():
    # --8<-- [start:constraints]
    import inspect
    import tempfile
    from pathlib import Path

    from customgrad.functions import CustomReLU
    from customgrad.lessons.relu import harness

    right = "import torch\n\n" + inspect.getsource(CustomReLU)
    mistakes = {  # test: (what is right, what replaces it)
        "static methods": ("@staticmethod\n    def forward", "def forward"),
        "input left alone": (".clamp(min=0)", ".clamp_(min=0)"),
        "gradient at 0": ("input <= 0", "input < 0"),
        "gradient at -0.0": ("input <= 0", "input < 0"),
        "uses grad_output": ("grad_output.mask", "input.sign().mask"),
        "grad_output left alone": (
            "grad_output.masked_fill(input <= 0, 0)",
            "grad_output.mul_(input > 0)",
        ),
        "saves for backward": ("(input)", "(input, input)"),
        "0-d tensor": ("return input", "return input[:]"),
        "empty tensor": ("return input", "input.max(); return input"),
        "transposed matrix": ("input.clamp", "input.view(-1).clamp"),
        "dtypes kept": ("input.clamp", "input.float().clamp"),
    }
    for test, (old, new) in mistakes.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "my_relu.py"
            file.write_text(right.replace(old, new))
            seen = []
            harness.judge(str(file), seen.append)
        for row in harness.collect("my_relu.py", seen).rows:
            if row.name == test and not row.ok:
                print(f"✗ {test:23} {row.got}")
    # --8<-- [end:constraints]


# Two answers, as the harness is given them: one is wrong at zero.


def attempt():
    # --8<-- [start:attempt]
    import torch

    class CustomReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output.masked_fill(input < 0, 0)

    def custom_relu_demo():
        x = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
        output = CustomReLU.apply(x)
        output.sum().backward()
        return {"output": output.tolist(), "grad": x.grad.tolist()}

    # --8<-- [end:attempt]


def answer():
    # --8<-- [start:answer]
    import torch

    class CustomReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output.masked_fill(input <= 0, 0)

    def custom_relu_demo():
        x = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
        output = CustomReLU.apply(x)
        output.sum().backward()
        return {"output": output.tolist(), "grad": x.grad.tolist()}

    # --8<-- [end:answer]


def main():
    demo()
    example()
    constraints()


if __name__ == "__main__":
    main()
