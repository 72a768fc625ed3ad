// Carries the shared precompiled header; holds no code.
