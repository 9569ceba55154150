// Runs before each test file. What it imports stays loaded where files of a process share modules.
import "./helpers/fast-equality.js";
