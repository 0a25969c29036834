"""The course's file: what is asked for, what is accepted, what each part is worth. Imports no torch."""
