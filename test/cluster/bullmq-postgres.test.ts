/** Queues by BullMQ on Postgres. */
import { testQueue } from "./bullmq-suite.js";
import { startPostgres } from "./servers.js";

testQueue("postgres", "PostgreSQL", await startPostgres());
