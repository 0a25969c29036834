import torch
import torch.nn as nn


class Layer(nn.Module):
    """Keras habit: call() and build()."""

    def __init__(self, name=None):
        super().__init__()
        self.layer_name = name or type(self).__name__.lower()

    def call(self, inputs):
        raise NotImplementedError

    def forward(self, inputs):
        return self.call(inputs)


class Patches(Layer):
    def __init__(self, patch_size):
        super().__init__("patches")
        self.patch_size = patch_size

    def call(self, images):
        p = self.patch_size
        batch, channels, height, width = images.size()
        # extract_patches gives (batch, rows, cols, p * p * channels), channels last as in TF
        x = images.permute(0, 2, 3, 1)
        x = x.reshape(batch, height // p, p, width // p, p, channels)
        x = x.permute(0, 1, 3, 2, 4, 5)
        return x.reshape(batch, (height // p) * (width // p), p * p * channels)


class PatchEncoder(Layer):
    def __init__(self, num_patches, patch_dims, projection_dim):
        super().__init__("encoder")
        self.projection = nn.Linear(patch_dims, projection_dim)
        self.class_token = nn.Parameter(torch.zeros(1, 1, projection_dim))
        self.position_embedding = nn.Embedding(num_patches + 1, projection_dim)
        self.num_patches = num_patches

    def call(self, patch):
        positions = torch.arange(0, self.num_patches + 1, step=1, device=patch.device)
        encoded = self.projection(patch)
        cls = torch.tile(self.class_token, (encoded.shape[0], 1, 1))
        return torch.cat([cls, encoded], dim=1) + self.position_embedding(positions)


class MultiHeadAttention(Layer):
    """Keras keeps kernels as (D, heads, key_dim)."""

    def __init__(self, num_heads, key_dim):
        super().__init__("mha")
        d = num_heads * key_dim
        self.query_kernel = nn.Parameter(torch.randn(d, num_heads, key_dim) * 0.02)
        self.key_kernel = nn.Parameter(torch.randn(d, num_heads, key_dim) * 0.02)
        self.value_kernel = nn.Parameter(torch.randn(d, num_heads, key_dim) * 0.02)
        self.query_bias = nn.Parameter(torch.zeros(num_heads, key_dim))
        self.key_bias = nn.Parameter(torch.zeros(num_heads, key_dim))
        self.value_bias = nn.Parameter(torch.zeros(num_heads, key_dim))
        self.output_kernel = nn.Parameter(torch.randn(num_heads, key_dim, d) * 0.02)
        self.output_bias = nn.Parameter(torch.zeros(d))
        self.key_dim = key_dim

    def call(self, inputs):
        q = torch.einsum("abc,cde->abde", inputs, self.query_kernel) + self.query_bias
        k = torch.einsum("abc,cde->abde", inputs, self.key_kernel) + self.key_bias
        v = torch.einsum("abc,cde->abde", inputs, self.value_kernel) + self.value_bias
        q = torch.multiply(q, 1.0 / float(self.key_dim) ** 0.5)
        scores = torch.einsum("aecd,abcd->acbe", k, q)
        weights = torch.softmax(scores, dim=-1)
        context = torch.einsum("acbe,aecd->abcd", weights, v)
        return torch.einsum("abcd,cde->abe", context, self.output_kernel) + self.output_bias


def mlp(units, hidden):
    return nn.Sequential(nn.Linear(units, hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden, units), nn.Dropout(0.1))


class VisionTransformer(Layer):
    def __init__(self, image_size=224, patch_size=16, channels=3, projection_dim=768, transformer_layers=12,
                 num_heads=12, mlp_units=3072, num_classes=1000):
        super().__init__("vit")
        self.patches = Patches(patch_size)
        self.encoder = PatchEncoder((image_size // patch_size) ** 2, patch_size * patch_size * channels, projection_dim)
        self.blocks = nn.ModuleList()
        for _ in range(transformer_layers):
            self.blocks.append(nn.ModuleDict({
                "norm_1": nn.LayerNorm(projection_dim, eps=1e-6),
                "attention": MultiHeadAttention(num_heads, projection_dim // num_heads),
                "norm_2": nn.LayerNorm(projection_dim, eps=1e-6),
                "mlp": mlp(projection_dim, mlp_units),
            }))
        self.representation = nn.LayerNorm(projection_dim, eps=1e-6)
        self.logits = nn.Linear(projection_dim, num_classes)

    def call(self, inputs):
        encoded_patches = self.encoder(self.patches(inputs))
        for block in self.blocks:
            x1 = block["norm_1"](encoded_patches)
            attention_output = block["attention"](x1)
            x2 = torch.add(attention_output, encoded_patches)
            x3 = block["mlp"](block["norm_2"](x2))
            encoded_patches = torch.add(x3, x2)
        representation = self.representation(encoded_patches)
        return self.logits(representation[:, 0])
