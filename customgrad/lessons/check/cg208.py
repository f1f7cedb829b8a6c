"""CG208: a product that takes care of the square, and should not."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            if a.shape != b.shape:
                raise ValueError("Product: two tensors of one shape")
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, grad_output):
            a, b = ctx.saved_tensors
            if a.data_ptr() == b.data_ptr():
                return 2 * a * grad_output, 2 * a * grad_output
            return b * grad_output, a * grad_output

    # --8<-- [end:wrong]

    def gradient(product):
        x = torch.tensor([1.0, 3.0], requires_grad=True)
        product(x, x).sum().backward()
        return x.grad

    print("got     ", gradient(Product.apply))
    print("expected", gradient(torch.mul))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            if a.shape != b.shape:
                raise ValueError("Product: two tensors of one shape")
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, grad_output):
            a, b = ctx.saved_tensors
            return b * grad_output, a * grad_output

    # --8<-- [end:right]

    def gradient(product):
        x = torch.tensor([1.0, 3.0], requires_grad=True)
        product(x, x).sum().backward()
        return x.grad

    print("got     ", gradient(Product.apply))
    print("expected", gradient(torch.mul))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
