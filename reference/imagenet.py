"""The constants of ImageNet that images are normalised by, apart from what imports torchvision."""

IMAGENET_MEAN = (0.485, 0.456, 0.406)  # of red, green and blue over the training images, in [0, 1]
IMAGENET_STD = (0.229, 0.224, 0.225)
