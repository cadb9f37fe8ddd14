"""The one kind of error that a user sees: a line that says what is wrong, and what to do."""


class UserError(Exception):
    """Something that the user can fix.

    `message` is one line: what is wrong, naming the thing. `hint` is one line: what to do about it.
    Only `lab.cli` catches it; it prints both and exits with `exit_code`.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
