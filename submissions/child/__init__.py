"""The untrusted side: what runs next to a student's code. Nothing on the trusted side may import it."""
