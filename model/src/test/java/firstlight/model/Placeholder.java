package firstlight.model; final class Placeholder {}
