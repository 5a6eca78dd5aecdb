"""The solver in a process that uses HiGHS itself."""

from __future__ import annotations

import threading

import highspy

from sqlaudit.base.solver import Program, run_linear, silent, solve


def test_other_programs_of_a_thread_with_more_threads_do_not_matter() -> None:
    """HiGHS keeps the number of threads for each thread that runs it, and refuses to run with another."""
    found: list[float] = []

    def use() -> None:
        own = highspy.Highs()
        for option, setting in {"output_flag": False, "threads": 2}.items():
            own.setOptionValue(option, setting)
        x = own.addVariable(0, 10, 1)
        own.addConstr(x >= 2)
        own.run()
        solver = silent({"threads": 1})
        y = solver.addVariable(0, 10, 1)
        solver.addConstr(y >= 3)
        run_linear(solver)
        found.append(solver.getSolution().col_value[0])
        program = Program()
        program.row([(program.variable(1.0, 10.0, whole=True), 1.0)], 3.5, 10.0)
        values = solve(program, step=1.0).values
        assert values is not None
        found.extend(values)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert found == [3.0, 4.0]
