/** Summaries of the commands for help, in the order of a newcomer's use. */
export const summaries = {
  init: 'a first pipeline, an ignore file, an editor hint',
  validate: 'shows every mistake of a pipeline file; no network unless --online',
  plan: 'what a run would submit, why, and what it would cost; no network but to an engine',
  run: 'runs a pipeline, or continues it',
  worker: 'works on the runs of an engine, one of any number of machines',
  stop: 'ends a run on an engine: all its workers settle what is in flight',
  rm: 'removes a run and all its records from an engine; files stay',
  status: 'progress of a run, what failed and why, what is in doubt; also during the run',
  ls: 'the run directories below a folder: progress and cost of each, when it ran last',
  show: "one job's whole story: request, answers, files, and what to do next",
  resolve: 'settles one job in doubt: adopts its task, gives it up, or submits it again',
  manifest: 'writes manifest.csv again from what a run directory holds',
  report: 'writes the gallery of a run: a page that opens from the disk',
  serve: 'shows the gallery of a run on this machine, live during the run',
  verify: 'compares every file with what the state says; --repair downloads again',
  clean: 'shows, and with --yes removes, files that the pipeline no longer lists',
  merge: 'one run directory of those of several machines (--shard)',
  export: 'data sets of the results: a folder of images, JSONL, Parquet, WebDataset',
  trust: 'lets a key go to an address that a pipeline file names',
  models: 'the text models that the service lists',
  sandbox: 'the local service on 127.0.0.1, for development and tests',
  completion: 'prints a script that completes commands, flags and their values in a shell',
} as const;

export type CommandName = keyof typeof summaries;
