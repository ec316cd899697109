package firstlight.protocol; final class Placeholder {}
