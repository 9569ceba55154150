/** The program of the workers that decode columns of Parquet files. */
import { provide } from "../../host/provide.js";
import { decodeChunks, viewsOfColumn } from "./parquet-read-task.js";

provide("parquet-read", decodeChunks, viewsOfColumn);
