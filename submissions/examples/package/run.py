"""Train the model for a few steps on noise, to see that it learns at all: python run.py --steps 5"""
import argparse

import torch
import torch.nn.functional as F

from vit import IMG_SIZE, NUM_CLASSES, VisionTransformer, load_image_tensor

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=5)
parser.add_argument("--lr", type=float, default=3e-4)
parser.add_argument("--image", default=None, help="classify this one afterwards")
args = parser.parse_args()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = VisionTransformer().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)

model.train()
for step in range(args.steps):
    images = torch.randn(2, 3, IMG_SIZE, IMG_SIZE, device=device)
    labels = torch.randint(NUM_CLASSES, (2,), device=device)
    logits, _ = model(images)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

torch.save(model.state_dict(), "vit.pt")

if args.image:
    model.eval()
    with torch.no_grad():
        _, probs = model(load_image_tensor(args.image).to(device))
    torch.save(probs.cpu(), "probabilities.pt")
