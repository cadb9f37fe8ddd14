"""Published claims as tests on a summary: read (`spec`), judged (`judge`), kept (`records`), shown (`table`)."""
