// Generated from schemas/ by `npm run generate`. Do not edit.

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 70 | 74 | 75 | 129 | 130 | 143;
/** Why the run came to its end. */
export type End =
  | {
      readonly kind: 'complete';
    }
  | {
      readonly kind: 'stopped' | 'budget' | 'disk' | 'fail-fast';
      /** Closed dotted code. */
      readonly code: string;
      readonly message: string;
    }
  | {
      readonly kind: 'interrupted';
      /** By a second signal. */
      readonly forced: boolean;
    };
/** Skipped: its button is optional and not there. */
export type Status =
  'pending' | 'submitting' | 'running' | 'modal' | 'saving' | 'done' | 'failed' | 'in-doubt' | 'skipped';
export type Reasons = readonly {
  readonly code: string;
  readonly count: number;
  /** The most frequent one. */
  readonly message: string;
  /** How many different ones there are besides; absent for none. */
  readonly otherMessages?: number;
  /** The pipeline accepts this code (`failures.accept`); absent where it does not. */
  readonly accepted?: true;
}[];

/** What commands print with `--json`, by command. */
export interface JsonOutputs {
  /** What `promptpress ls --json` prints: one object about the run directories in a folder and below it, or about the runs on an engine, whose `directory` is `postgres://…#NAME`. Paths are relative to the current folder. */
  readonly ls: {
    /** The search ended early: there may be more. */
    readonly truncated: boolean;
    /** In the order of their directories. */
    readonly runs: readonly (
      | {
          readonly directory: string;
          /** Why its state cannot be read. */
          readonly problem: string;
        }
      | ListedRun
    )[];
  };
  /** What `promptpress models --json` prints: the models that the service lists. */
  readonly models: {
    /** Origin of the service that was asked. */
    readonly service: string;
    /** By id. */
    readonly models: readonly {
      /** What `model` of a text step names. */
      readonly id: string;
      /** Where the service says so. */
      readonly ownedBy?: string;
      /** ISO 8601, UTC; where the service says so. */
      readonly created?: string;
      /** Kinds of endpoint that the model is said to serve; often empty. */
      readonly endpoints: readonly string[];
    }[];
    /** With FILE: models that the pipeline asks and the service does not list. */
    readonly unlisted?: readonly {
      readonly model: string;
      /** One that asks it. */
      readonly step: string;
    }[];
  };
  /** What `promptpress plan --json` prints: what a run would do, and why. slots = jobs + shared + skipped + blocked + waiting + invalid; jobs = submits + held + running + unsaved + done + inDoubt + failed. */
  readonly plan: {
    /** The pipeline's name. */
    readonly pipeline: string;
    /** The pipeline file as it was given. */
    readonly file: string;
    /** Identity of the service: part of every job key. */
    readonly service: string;
    /** Where a run would send its requests, and the key. Absent where no address is known, and with --sandbox. */
    readonly origin?: string;
    /** Combinations of the matrix. */
    readonly cells: {
      /** All of the plan. */
      readonly total: number;
      /** Those that the flags choose. */
      readonly chosen: number;
    };
    /** Slots of every cell over all steps; a wildcard and what hangs below it count once, a list of `each` as often as it may have items. */
    readonly slotsPerCell: number;
    /** True: every chosen slot was looked at. False: slots are counted by multiplication; jobs, submits, tokens and cost are upper bounds, and nothing done, shared or skipped is known. */
    readonly exact: boolean;
    /** The sum over all steps. */
    readonly total: Counts;
    /** The pipeline gives prices. */
    readonly priced: boolean;
    /** What the submissions without a price are called (buttons, models, kinds), each once, in plan order. */
    readonly unpricedNames: readonly string[];
    /** The steps that the flags choose, in file order. */
    readonly steps: readonly Step[];
    /** Jobs of open orders to make them anew (--redo, --redo-jobs), with what the flags add. Absent: there is none. */
    readonly redo?: Redo;
    /** Jobs that a run takes over from other run directories (--reuse), and what submitting them would take. They are among the finished jobs. Absent without the flag, and if `exact` is false. */
    readonly reuse?: {
      /** Jobs that are taken over. */
      readonly jobs: number;
      readonly tokens: PlanTokens;
      /** Saved cost, of those with a known price. */
      readonly cost: number;
      /** Jobs without a known price. */
      readonly unpriced: number;
    };
    /** What is still to come at most: the cost of all submissions (total.cost), and of all slots that wait for results (total.later.cost). */
    readonly atMost: number;
    /** What the run directory holds, of this plan or not. Absent without one. */
    readonly state?: {
      /** Jobs by status. */
      readonly jobs: {
        readonly [k: string]: number;
      };
      /** Submissions over the directory's life. */
      readonly attempts: number;
      /** Sum of the tokens that answers are known to have taken. */
      readonly tokens: number;
      /** Sum of the known costs. */
      readonly cost: number;
      /** What submissions that nobody answered may have cost beside it. budget.cost counts it too. */
      readonly possibleCost: number;
    };
    /** The first few prompts that are to be submitted, as they would be sent. */
    readonly examples: readonly {
      /** The cell's number, from 1. */
      readonly cell: number;
      /** The step's name. */
      readonly step: string;
      /** The prompt, rendered. */
      readonly prompt: string;
    }[];
    /** What the user may not expect; nothing is wrong with the file. */
    readonly warnings: readonly {
      /** Which notice. */
      readonly code:
        | 'plan.at-most'
        | 'plan.open'
        | 'plan.lists'
        | 'each.dropped'
        | 'plan.invalid'
        | 'plan.shared'
        | 'plan.not-kept'
        | 'redo.made'
        | 'redo.same'
        | 'budget.submits'
        | 'budget.tokens'
        | 'budget.cost';
      /** A sentence for the user. */
      readonly message: string;
    }[];
  };
  /** What a command with `--json` prints where it does not do what it was asked for: `run`, `plan`, `status`, `ls`, `show` and `models`. */
  readonly refused: {
    readonly error: {
      /** pipeline.invalid; the code of a state, a table, the disk or a bucket, such as state.locked; else the name of the exit code: usage, disk, internal. */
      readonly code: string;
      readonly message: string;
      /** What to do about it. */
      readonly hint?: string;
    };
    /** Every mistake of a pipeline that is not valid; absent for all other failures. */
    readonly diagnostics?: readonly ShownDiagnostic[];
  };
  /** What `promptpress run --detach --json` prints: one object about a run that is left to the workers of its engine. */
  readonly registered: {
    /** The pipeline's name. */
    readonly pipeline: string;
    /** The pipeline's file as it was given. */
    readonly file: string;
    /** The service's identity, part of every job key. */
    readonly service: string;
    /** Where its requests go, and the key. */
    readonly origin: string;
    /** Its engine and its name there, `postgres://…#NAME` without a password: `status`, `stop` and `ls` take it. */
    readonly run: string;
    /** The run directory, relative to the current folder. */
    readonly directory: string;
    /** Those that the flags choose. */
    readonly cells: number;
  };
  /** What `promptpress run --json` prints: one object about one invocation. Paths are relative to the current folder. */
  readonly run: {
    /** The pipeline's name. */
    readonly pipeline: string;
    /** The pipeline's file as it was given. */
    readonly file: string;
    /** The service's identity, part of every job key. */
    readonly service: string;
    /** Where the requests went, and the key. */
    readonly origin: string;
    /** The local service was used. */
    readonly sandbox: boolean;
    /** The run directory. */
    readonly directory: string;
    /** Absent unless there are any. */
    readonly images?: string;
    /** Whole replies of text calls; absent unless there are any. The texts are in the manifest. */
    readonly replies?: string;
    /** Absent unless there are any. */
    readonly videos?: string;
    readonly log: string;
    /** Absent when the run left before it was written. */
    readonly manifest?: string;
    /** ISO 8601, UTC. */
    readonly startedAt: string;
    /** ISO 8601, UTC. */
    readonly finishedAt: string;
    readonly end: End;
    readonly exitCode: ExitCode;
    /** Submissions of this invocation. */
    readonly submits: number;
    /** Finished jobs that --redo named and that stay as they were, because nothing came of it; absent when there are none. */
    readonly redosFailed?: number;
    /** Jobs of orders to make them anew (--redo, --redo-jobs). Absent: there was no order. */
    readonly redo?: {
      /** To be begun, or given back. */
      readonly waiting: number;
      /** Submitted, and not settled. */
      readonly begun: number;
      /** Settled, of orders that are not closed. */
      readonly made: number;
      /** Made by the orders that this run has closed, because nothing was left of them. */
      readonly closed: number;
    };
    /** Tasks that timed out at the gateway in this invocation and were submitted, and maybe paid, again; absent when there are none. */
    readonly timedOutAgain?: number;
    /** Jobs of the directory that are pending because they were refused: nothing was paid for them, and a later run tries them again. Absent when there are none. */
    readonly putBack?: number;
    /** What the service accepts, as the runs of the directory have found it; absent: it refused nothing. `run --relearn` forgets it. */
    readonly limits?: Limits;
    /** Grids that this invocation cut into frames (`grid: split`); absent when there are none. */
    readonly gridsCut?: number;
    /** Sums of the manifest's token columns; absent when none were counted. */
    readonly tokens?: RunTokens;
    /** What this run has cost; absent: nothing that is known. */
    readonly runCost?: number;
    /** Tokens of all replies over the directory's life, as status has them; absent: none. */
    readonly allTokens?: number;
    /** What the directory has cost so far, over its life, as status says it, in the unit of the pipeline's prices; absent: nothing is priced. */
    readonly cost?: number;
    /** Estimated tokens of replies without a token count, and of text calls whose answer was lost, beside the others: budget.tokens counts them. Absent: there was none. */
    readonly assumedTokens?: number;
    /** What submissions that nobody answered may have cost beside it, over the directory's life; absent: nothing. budget.cost counts it too. */
    readonly possibleCost?: number;
    /** Submissions and text calls whose answer never came, because the run or the connection ended: they may have been paid. Absent: none. */
    readonly unanswered?: number;
    /** Different jobs whose files have the same bytes: most often the service had removed the images, and gave one picture for all of them. Absent: none were found. */
    readonly sameFiles?: SameFiles;
    /** Pending slots that gather results of other cells (`gather: over`) which the flags left out, by step: a run of the whole plan makes them. Absent: none. */
    readonly leftOut?: {
      readonly [k: string]: number;
    };
    /** The slots that the flags chose, by status; absent when the run left before they were counted. */
    readonly slots?: SlotCounts;
    /** Slots in the manifest that the flags did not choose: they have a result. */
    readonly otherSlots?: number;
    /** Rows of the manifest. */
    readonly rows?: number;
    /** Rows that name a file. */
    readonly files?: number;
    /** Why chosen slots failed or are in doubt, most frequent first. */
    readonly reasons: readonly {
      readonly status: 'failed' | 'in-doubt';
      /** Closed dotted code, for example task.failed. */
      readonly code: string;
      readonly count: number;
      /** How many of them failed before anything was asked: they have no job to try again. Absent: none. */
      readonly unasked?: number;
      /** The pipeline accepts this code (`failures.accept`); absent where it does not. */
      readonly accepted?: true;
      /** The most frequent one. */
      readonly message: string;
      /** How many different ones there are besides; absent for none. */
      readonly otherMessages?: number;
    }[];
    /** Jobs of the directory in doubt. */
    readonly inDoubt: readonly {
      /** The job's key. */
      readonly job: string;
      readonly step: string;
      readonly branch: string;
      readonly cell: number;
    }[];
  };
  /** What `promptpress show --json` prints: one object about one job of a run directory. Texts are as the pipeline and the service said them. */
  readonly show: {
    /** Relative to the current folder. */
    readonly directory: string;
    /** A run is on. */
    readonly running: boolean;
    /** The job's key. */
    readonly job: string;
    readonly status: Status;
    /** A submission was sent and nobody waits for its answer any more: `promptpress resolve` settles it. True also for a job that a killed run left in `submitting`. */
    readonly inDoubt: boolean;
    /** Where it was first asked for. */
    readonly asked: {
      readonly cell: number;
      readonly step: string;
      readonly branch: string;
      /** Changed: the place had asked for another job before. */
      readonly reason: 'new' | 'changed';
      /** Of changed: the key of that job. */
      readonly replaces?: string;
    };
    /** What is asked of the service, by the pipeline's names of the fields. */
    readonly request: {
      readonly kind: string;
      readonly fields: {
        readonly [k: string]: unknown;
      };
      readonly extra?: {
        readonly [k: string]: unknown;
      };
      /** Of a click: the first of these that the parent's task offers is pressed. */
      readonly press?: readonly unknown[];
      readonly [k: string]: unknown;
    };
    /** The images that its request shows, in order. */
    readonly shows: readonly (
      | ShownFile
      | {
          readonly kind: 'address';
          /** As declared; of a data URI only what comes before the data. */
          readonly url: string;
        }
      | {
          readonly kind: 'job';
          readonly job: string;
          readonly cell?: number;
          readonly step?: string;
          readonly branch?: string;
          readonly status?: Status;
          readonly taskId?: string;
          /** Relative to the run directory; none: they were not kept. */
          readonly files: readonly string[];
        }
    )[];
    /** Which part of the image is repainted. */
    readonly mask?:
      | {
          readonly kind: 'file';
          /** As the pipeline names the file, relative to itself; absent: nobody says where it lay. */
          readonly path?: string;
          readonly sha256: string;
          readonly invert: boolean;
        }
      | {
          readonly kind: 'shapes';
          readonly shapes: readonly {
            readonly [k: string]: unknown;
          }[];
          readonly invert: boolean;
        };
    /** Its own, else its nearest ancestor's, exactly as sent. */
    readonly prompt?: string;
    readonly speed?: string;
    /** The button that was found and pressed. */
    readonly pressed?: {
      readonly customId: string;
      readonly label: string;
      readonly emoji: string;
    };
    /** What it continues: its parent, or all that it gathers, in order; of a text job also what it shows. Its parent is named with the task that the job was made from. */
    readonly inputs: readonly JobReference[];
    /** The task whose button it pressed, or that it was made from: also where its parent was made again since. Absent: none, or nobody knows. */
    readonly parentTaskId?: string;
    /** What it came from was made again since: the next run that plans it makes it again too. Absent: no. */
    readonly outdated?: true;
    /** What continues it, oldest first. */
    readonly children: readonly JobReference[];
    /** There are more than are listed. */
    readonly moreChildren: boolean;
    /** Submissions that may have cost money. */
    readonly attempts: number;
    /** Submissions and decisions, oldest first. */
    readonly history: readonly {
      /** ISO 8601, UTC. */
      readonly at: string;
      /** What the answer came to (accepted, refused, lost, …); task.failed: the task failed and is to be submitted again; unanswered: sent, and no answer is on record; user.adopted, user.dropped, user.retry: the user’s choice in `promptpress resolve`. */
      readonly outcome: string;
      readonly taskId?: string;
      readonly error?: JobError;
    }[];
    /** The service's id of its task. */
    readonly taskId?: string;
    /** The run that has or had the job, and paid it (`--reuse`), as a path relative to the run directory. Absent: it was not taken over. */
    readonly reusedFrom?: string;
    /** ISO 8601, UTC. */
    readonly submittedAt?: string;
    /** ISO 8601, UTC. */
    readonly finishedAt?: string;
    /** In the unit of the pipeline's prices; absent: unknown. */
    readonly cost?: number;
    /** Submissions and text calls whose answer never came, so that they may have been paid; absent: none. */
    readonly doubtful?: {
      readonly count: number;
      /** What they may have cost beside the job's cost; absent: unknown. */
      readonly cost?: number;
    };
    readonly error?: JobError;
    /** What the error means for the user. */
    readonly advice?: string;
    /** The service's link to the image, which may be outdated. */
    readonly imageUrl?: string;
    /** Labels (else emoji, else ids) of the buttons that its task offers. */
    readonly buttons: readonly string[];
    /** Frames were wanted of its file (`grid: split`), and there are none: why. */
    readonly whole?: {
      readonly code: string;
      readonly message: string;
    };
    /** Its files; behind a grid its frames. */
    readonly artifacts: readonly {
      readonly output: number;
      /** Relative to the run directory. */
      readonly file: string;
      readonly bytes: number;
      readonly sha256: string;
      readonly mime: string;
      readonly width?: number;
      readonly height?: number;
      /** Of a text job: which candidate it belongs to, from 1. */
      readonly candidate?: number;
    }[];
    /** Of a text job: what its last answer came to, also where the job failed for it. */
    readonly answer?: {
      /** The model version that answered. */
      readonly model?: string;
      readonly requestId?: string;
      readonly responseId?: string;
      /** Why the prompt was not answered at all. */
      readonly blockReason?: string;
      readonly candidates: readonly {
        readonly text: string;
        readonly finishReason?: string;
        /** What a lenient reading of JSON passed over or mended; absent: nothing. */
        readonly passedOver?: readonly string[];
      }[];
      /** The service's whole answer; absent where it was not kept (`keepReplies`). */
      readonly reply?: ReplyLine;
    };
    /** Tokens of all answers that it was ever given; what the service did not say is absent. */
    readonly usage?: {
      readonly prompt?: number;
      readonly cached?: number;
      readonly candidates?: number;
      readonly thoughts?: number;
      readonly tool?: number;
      readonly other?: number;
      readonly total?: number;
    };
    /** Rounds of function calls that were answered, oldest first. */
    readonly rounds?: readonly {
      /** Names of the functions. */
      readonly calls: readonly string[];
      /** The service's whole answer; absent where it was not kept (`keepReplies`). */
      readonly reply?: ReplyLine;
    }[];
    /** Answers that came and could not be used. */
    readonly unusable?: number;
    /** What can be done about it: commands to copy. */
    readonly next: readonly {
      readonly command: string;
      readonly does: string;
    }[];
  };
  /** What `promptpress status --json` prints: one object about a run directory. Paths are relative to the current folder. */
  readonly status: {
    readonly directory: string;
    /** The pipeline's file; absent when no run got that far. */
    readonly file?: string;
    /** The service's identity. */
    readonly service?: string;
    /** Where the last run's requests went; absent for a rehearsal. */
    readonly origin?: string;
    /** What of the directory was made for other services than that of the last run: only runs against them go on with it. It is counted in jobs, doubts and costs too. Absent where there is none. */
    readonly otherServices?: readonly {
      /** Its identity. */
      readonly service: string;
      /** Where it was, as far as it was noted. */
      readonly origin?: string;
      readonly jobs: number;
      /** Those of them that are in doubt. */
      readonly doubts: number;
    }[];
    /** Axes of the matrix that the runs of the directory replace (--set), with each value as the user wrote it; absent where none is. */
    readonly set?: readonly {
      readonly axis: string;
      readonly value: string;
    }[];
    /** Of a run on an engine that has begun: where it stands. registered: no worker has begun; running: workers are at work, or its coordinator is about to end it; waiting: there is work, and no worker; unled: its coordinator ended before all cells were given, and no worker is at work; complete: all is done; stopped: it ended before. */
    readonly stage?: {
      readonly state: 'registered' | 'running' | 'waiting' | 'unled' | 'complete' | 'stopped';
      /** Those that are at work. */
      readonly workers: number;
      /** A process of promptpress run leads it. */
      readonly led: boolean;
    };
    /** Of a run on an engine: how its workers are doing. */
    readonly engine?: WorkersStatus;
    /** A run is on. */
    readonly running: boolean;
    /** Who runs. */
    readonly owner?: {
      readonly pid: number;
      readonly host: string;
    };
    /** Of the run that is on, or of the last one. */
    readonly startedAt?: string;
    /** Absent while the run is on, and when it was killed. */
    readonly finishedAt?: string;
    /** Why the last run came to its end. */
    readonly end?: End;
    readonly exitCode?: number;
    /** Jobs settled in a minute, on average since the run began. */
    readonly perMinute?: number;
    /** Progress of the run under way, or else of the last one, by its plan before the first submission. Absent until that plan is made. */
    readonly planned?: HowFar;
    /** Jobs of the directory by status, whether they are still planned or not. */
    readonly jobs: {
      readonly pending: number;
      readonly submitting: number;
      readonly running: number;
      readonly modal: number;
      readonly saving: number;
      readonly done: number;
      readonly failed: number;
      /** Failed with a code of `failures.accept`, or blocked by such a failure; not counted as failed or blocked. */
      readonly accepted: number;
      readonly 'in-doubt': number;
      /** Their optional button is not there. */
      readonly skipped: number;
    };
    /** Planned slots that the last run's flags chose, by status, as it left them; with those that never became a job. Absent while a run is on, and when it was killed. */
    readonly slots?: SlotCounts;
    /** Why slots of the last run failed before anything was asked, most frequent first: they have no job. */
    readonly unasked: Reasons;
    /** Submissions over the directory's life. */
    readonly submits: number;
    /** Tokens of all replies over the directory's life, where the service reported them. */
    readonly tokens: number;
    /** Sum of the known costs over the directory's life, in the unit of the pipeline's prices; absent when nothing is priced. */
    readonly cost?: number;
    /** Estimated tokens of replies without a token count, and of text calls whose answer was lost, beside the others: budget.tokens counts them. Absent: there was none. */
    readonly assumedTokens?: number;
    /** What submissions that nobody answered may have cost beside it, over the directory's life; absent: nothing. budget.cost counts it too. */
    readonly possibleCost?: number;
    /** Submissions and text calls whose answer never came, because the run or the connection ended: they may have been paid. Absent: none. */
    readonly unanswered?: number;
    /** Tasks that timed out at the gateway in the last run and were submitted, and maybe paid, again. Absent: none. */
    readonly timedOutAgain?: number;
    /** Pending slots that gather results of other cells (`gather: over`) which the flags of the last run left out, by step: a run of the whole plan makes them. Absent: none. */
    readonly leftOut?: {
      readonly [k: string]: number;
    };
    /** Jobs of open orders to make them anew (--redo, --redo-jobs): runs go on with them. Absent: there is no open one. */
    readonly redo?: Redo;
    /** Jobs that wait for a later run because they were refused, by kind of request and reason, most frequent first. Nothing was paid for them. */
    readonly putBack: readonly {
      /** What was asked for: imagine, pan, a model; of a button that was not read yet, its slot. */
      readonly kind: string;
      /** Code of the refusal. */
      readonly code: string;
      /** Jobs. */
      readonly count: number;
      /** The most frequent message. */
      readonly message: string;
      /** How many different messages there are besides. Absent: none. */
      readonly otherMessages?: number;
    }[];
    /** Different jobs whose files have the same bytes, as the end of the last run found: most often the service had removed the images, and gave one picture for all of them. Absent: none were found. */
    readonly sameFiles?: SameFiles;
    /** What each step has cost over the directory's life, in the order in which their first jobs came. */
    readonly steps: readonly StepCosts[];
    /** What the runs of the directory have learned about the service; absent: nothing. `run --relearn` forgets it. */
    readonly learned?: {
      /** How long its tasks take, from submission to end, by kind: operation, model version, speed. The kind with most tasks first. */
      readonly durations: readonly {
        readonly kind: string;
        /** Finished tasks that this was learned from. */
        readonly tasks: number;
        /** Half of the tasks take no longer, in seconds. */
        readonly median: number;
        /** A tenth takes no longer, in seconds. */
        readonly from: number;
        /** A tenth takes longer, in seconds. */
        readonly to: number;
      }[];
      /** What the service accepts, where it has refused more; absent: it refused nothing. */
      readonly limits?: Limits;
    };
    /** Failed and in-doubt jobs by error code, most frequent first. */
    readonly reasons: Reasons;
    /** Jobs in doubt, with those that a killed run left while they were being submitted. */
    readonly doubts: number;
    /** The first of them. */
    readonly inDoubt: readonly {
      /** The job's key. */
      readonly job: string;
      readonly step: string;
      readonly branch: string;
      readonly cell: number;
      readonly code: string;
    }[];
  };
  /** What `promptpress validate --json` prints: one object about all files that were named. */
  readonly validate: {
    /** Every file is: the exit code is 0. Else it is 2. */
    readonly valid: boolean;
    /** In the order in which they were named. */
    readonly files: readonly {
      /** As it was named. */
      readonly file: string;
      readonly valid: boolean;
      readonly errors: number;
      readonly warnings: number;
      /** Every mistake in the file and in its tables. */
      readonly diagnostics: readonly ShownDiagnostic[];
      /** With --online, of a valid file: what the service says of it. Its models are compared with those that the service lists. */
      readonly online?: {
        /** Models that the pipeline asks. */
        readonly asked: number;
        /** Origin of the service. */
        readonly service?: string;
        /** Models that the service lists. */
        readonly listed?: number;
        /** The pipeline makes images, and the image workflow is there under its names and takes the key. */
        readonly images?: true;
        /** Models that the pipeline asks and the service does not list. */
        readonly unlisted: readonly {
          readonly model: string;
          /** One of the steps that ask it. */
          readonly step: string;
          /** Of that step in the file. */
          readonly line: number;
        }[];
      };
    }[];
  };
}
export interface ListedRun {
  readonly directory: string;
  /** Of the pipeline, as it last ran. */
  readonly name?: string;
  /** The pipeline's file; absent when no run got that far. */
  readonly file?: string;
  /** A run is on; or how the last one ended: complete (exit code 0), failures (it ended, and not all is done), stopped by the service, at its budget, by the disk, interrupted, killed; or empty: nothing has run. Of a run on an engine also registered: no worker has begun, and waiting: there is work, and no worker. */
  readonly state:
    | 'empty'
    | 'running'
    | 'registered'
    | 'waiting'
    | 'killed'
    | 'complete'
    | 'failures'
    | 'stopped'
    | 'budget'
    | 'disk'
    | 'interrupted';
  /** Of a run on an engine that is on: its workers that are at work. */
  readonly workers?: number;
  /** Of the run that is on, or of the last one. */
  readonly startedAt?: string;
  /** Absent while the run is on, and when it was killed. */
  readonly finishedAt?: string;
  readonly exitCode?: number;
  /** Progress of the run under way, or else of the last one, by its plan before the first submission. Absent until that plan is made. */
  readonly planned?: HowFar;
  /** Jobs of the directory, whether they are still planned or not. */
  readonly jobs: {
    readonly done: number;
    readonly failed: number;
    /** Failed with a code of `failures.accept`; not counted as failed. */
    readonly accepted: number;
    readonly inDoubt: number;
    /** Under way, or waiting for their turn. */
    readonly open: number;
    /** Their optional button is not there. */
    readonly skipped: number;
  };
  /** Over the directory's life. */
  readonly submits: number;
  /** Sum of the known costs over the directory's life; absent when nothing is priced. */
  readonly cost?: number;
  /** What submissions that nobody answered may have cost in addition; absent: nothing. */
  readonly possibleCost?: number;
  readonly tokens: number;
}
export interface HowFar {
  /** Planned slots. */
  readonly total: number;
  /** There may be fewer. */
  readonly atMost?: true;
  /** Those that nothing is left to do for. While a run is on, from the jobs that have settled: where slots share jobs, as many as jobs settle on average. */
  readonly settled: number;
  /** Rounded down. */
  readonly percent: number;
  /** Time left at the rate of the run so far; absent where no run is under way, or none of its jobs has settled yet. */
  readonly leftMs?: number;
}
export interface Counts {
  /** Planned rows of the manifest, at least. */
  readonly slots: number;
  /** Different requests. */
  readonly jobs: number;
  /** Slots whose job is counted at another slot already: made and paid once. */
  readonly shared: number;
  /** Jobs that are to be submitted, once each if nothing fails. */
  readonly submits: number;
  readonly why: Why;
  /** Jobs that would be submitted, but below a job in doubt: they wait until that is settled. */
  readonly held: number;
  /** Jobs that an earlier run left under way: followed, not submitted again. */
  readonly running: number;
  /** Jobs that are made, but whose file is still to be fetched, or whose text is still to be written: that costs nothing. */
  readonly unsaved: number;
  /** Jobs that are done. */
  readonly done: number;
  /** Jobs in doubt: they were submitted and no answer came. */
  readonly inDoubt: number;
  /** Jobs that failed before: only --retry-failed submits them again. */
  readonly failed: number;
  /** Slots that are left out: a condition that does not hold, or an optional button that is not there. */
  readonly skipped: number;
  /** Slots below a failed job. */
  readonly blocked: number;
  /** Slots that failed or are blocked, as the pipeline accepts (`failures: accept`). */
  readonly accepted: number;
  /** Slots whose request waits for a result: a wildcard, or a template that names a step. */
  readonly waiting: number;
  /** Jobs among `submits`, `running` and `unsaved` whose result is cut into frames (`grid: split`), as far as the names of buttons tell which make grids. Absent: no step says that. */
  readonly cuts?: number;
  /** Slots that fail before anything is asked: a template cannot be rendered for their cell, a wildcard finds no button, an image that is to be shown is not there. */
  readonly invalid: number;
  readonly tokens: PlanTokens;
  /** Of the submissions with a known price, in the unit of `prices`; where a price is by tokens, as much a guess as they are. */
  readonly cost: number;
  /** Submissions without a known price. */
  readonly unpriced: number;
  readonly later: Later;
}
export interface Redo {
  /** To be begun, or given back. */
  readonly waiting: number;
  /** Submitted, and not settled. */
  readonly begun: number;
  /** Settled, of orders that are not closed. */
  readonly made: number;
}
/** What the waiting slots take besides, if each of them becomes a job: a guess, with stand-ins for the results that they wait for. */
export interface Later {
  readonly tokens: PlanTokens;
  /** Of those with a known price, in the unit of `prices`. */
  readonly cost: number;
  /** Those without a known price. */
  readonly unpriced: number;
}
/** About what the text calls among the submissions take: a guess from what they say, show and may answer. */
export interface PlanTokens {
  /** Tokens sent. */
  readonly input: number;
  /** Tokens answered, thinking included. */
  readonly output: number;
}
/** Why jobs are to be submitted. */
export interface Why {
  /** Their slot had no job before. */
  readonly new: number;
  /** Their slot had another job before: its request was edited. */
  readonly changed: number;
  /** The flags have a job tried again that failed or is in doubt, or a text call is made again whose answer never came. */
  readonly retry: number;
  /** A finished job is made again (--redo), or what it came from is, or was since. */
  readonly anew: number;
}
/** One step's part. */
export interface Step {
  /** The step's name. */
  readonly step: string;
  /** The step's kind; what its path presses are clicks. */
  readonly kind: 'imagine' | 'click' | 'blend' | 'describe' | 'shorten' | 'video' | 'edit' | 'generate' | 'chat';
  /** Its path presses buttons: the slots that come of that are clicks. */
  readonly path: boolean;
  /** A wildcard is among its slots or above them: it may have more slots than counted. */
  readonly open: boolean;
  /** How many items a list of `each` has, or frames a job, is not known yet: as many slots are counted as there may be. Absent: all are known. */
  readonly atMost?: true;
  /** Planned rows of the manifest, at least. */
  readonly slots: number;
  /** Different requests. */
  readonly jobs: number;
  /** Slots whose job is counted at another slot already: made and paid once. */
  readonly shared: number;
  /** Jobs that are to be submitted, once each if nothing fails. */
  readonly submits: number;
  readonly why: Why;
  /** Jobs that would be submitted, but below a job in doubt: they wait until that is settled. */
  readonly held: number;
  /** Jobs that an earlier run left under way: followed, not submitted again. */
  readonly running: number;
  /** Jobs that are made, but whose file is still to be fetched, or whose text is still to be written: that costs nothing. */
  readonly unsaved: number;
  /** Jobs that are done. */
  readonly done: number;
  /** Jobs in doubt: they were submitted and no answer came. */
  readonly inDoubt: number;
  /** Jobs that failed before: only --retry-failed submits them again. */
  readonly failed: number;
  /** Slots that are left out: a condition that does not hold, or an optional button that is not there. */
  readonly skipped: number;
  /** Slots below a failed job. */
  readonly blocked: number;
  /** Slots that failed or are blocked, as the pipeline accepts (`failures: accept`). */
  readonly accepted: number;
  /** Slots whose request waits for a result: a wildcard, or a template that names a step. */
  readonly waiting: number;
  /** Jobs among `submits`, `running` and `unsaved` whose result is cut into frames (`grid: split`), as far as the names of buttons tell which make grids. Absent: no step says that. */
  readonly cuts?: number;
  /** Slots that fail before anything is asked: a template cannot be rendered for their cell, a wildcard finds no button, an image that is to be shown is not there. */
  readonly invalid: number;
  readonly tokens: PlanTokens;
  /** Of the submissions with a known price, in the unit of `prices`; where a price is by tokens, as much a guess as they are. */
  readonly cost: number;
  /** Submissions without a known price. */
  readonly unpriced: number;
  readonly later: Later;
}
/** Tokens as the service counted them; what it did not say is absent, which is not 0. */
export interface RunTokens {
  /** Of the requests, cached ones included. */
  readonly prompt?: number;
  readonly cached?: number;
  /** Of the answers. */
  readonly candidates?: number;
  readonly thoughts?: number;
  /** What tools brought into the requests. */
  readonly tool?: number;
  /** What a total has above its parts; priced at the dearer of both prices. */
  readonly other?: number;
  readonly total?: number;
}
export interface SlotCounts {
  readonly pending: number;
  readonly submitting: number;
  readonly running: number;
  readonly modal: number;
  readonly saving: number;
  readonly done: number;
  readonly failed: number;
  /** Failed with a code of `failures.accept`, or blocked by such a failure; not counted as failed or blocked. */
  readonly accepted: number;
  readonly 'in-doubt': number;
  readonly skipped: number;
  readonly blocked: number;
}
export interface SameFiles {
  /** Jobs with a file whose bytes another job has too. */
  readonly jobs: number;
  /** Different contents among these files. */
  readonly contents: number;
  /** The content that most jobs have: how many, one of their files relative to the run directory, and two of their keys. */
  readonly example: {
    readonly jobs: number;
    readonly file: string;
    readonly first: string;
    readonly second: string;
  };
}
export interface Limits {
  /** Tasks that it accepts at a time; absent: it refused none. */
  readonly tasks?: number;
  /** Requests a minute that it accepts, by kind of request; absent: it refused none of the kind. */
  readonly perMinute: {
    readonly submit?: number;
    readonly text?: number;
    readonly poll?: number;
    readonly download?: number;
  };
  /** Text calls a minute that it accepts, by model; absent: it refused none. */
  readonly lanes?: {
    readonly [k: string]: number;
  };
  /** Requests that it accepts at a time: of `poll`, `download`, or `text/` and the model; absent: it refused none. */
  readonly atOnce?: {
    readonly [k: string]: number;
  };
  /** The part of the requests that it last refused by chance: of `submit`, `poll`, `download`, or `text/` and the model. The next run begins without. Absent: none. */
  readonly byChance?: {
    readonly [k: string]: number;
  };
}
/** A line of the whole replies: `{"job", "reply"}`. */
export interface ReplyLine {
  /** Relative to the run directory. */
  readonly file: string;
  /** Bytes before the line. */
  readonly offset: number;
  /** Bytes of the line, without its line break. */
  readonly length: number;
  /** Of these bytes. */
  readonly sha256: string;
}
/** A file, by what it was when the job was planned. */
export interface ShownFile {
  readonly kind: 'file';
  /** As the pipeline names the file, relative to itself; absent: nobody says where it lay. */
  readonly path?: string;
  readonly sha256: string;
}
export interface JobError {
  /** Closed dotted code, for example task.failed. */
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
  readonly httpStatus?: number;
}
/** Another job; only its key where nothing is on record of it. */
export interface JobReference {
  readonly job: string;
  readonly cell?: number;
  readonly step?: string;
  readonly branch?: string;
  readonly status?: Status;
  readonly taskId?: string;
}
export interface WorkersStatus {
  /** open: slices are taken; stopping: all workers settle what is in flight; ended: nothing more is done. */
  readonly state: 'open' | 'stopping' | 'ended';
  /** A process of promptpress run leads it. */
  readonly led: boolean;
  /** Those that have not ended; times are Unix milliseconds by the engine's clock. */
  readonly workers: readonly {
    readonly name: string;
    readonly session: number;
    readonly startedAt: number;
    readonly seenAt: number;
    readonly alive: boolean;
    /** How many it holds. */
    readonly slices: number;
  }[];
  readonly slices: {
    /** Nobody works on them: a number to scale workers by. */
    readonly waiting: number;
    readonly held: number;
    readonly done: number;
    /** All cells are in slices. */
    readonly fed: boolean;
  };
  /** How often a slice was taken from a worker that had not let go of it. */
  readonly takeovers: number;
  /** Requests of all workers of all runs at this service. */
  readonly rates: readonly {
    readonly route: string;
    readonly perMinute: number;
    readonly pausedMs?: number;
  }[];
  /** Image tasks in flight at this service, of all runs. */
  readonly tasks: {
    readonly granted: number;
    readonly used: number;
    /** The service refused more than so many. */
    readonly accepted?: number;
  };
  /** What all workers of the run may spend, and have. */
  readonly spending: readonly {
    readonly kind: 'cost' | 'tokens' | 'submits' | 'invocation';
    readonly most: number;
    readonly used: number;
  }[];
  /** Workers that lack a file as the run has it, at most 100, those first for whose file most slices wait; absent where none does. sha256 is empty while the coordinator has not said what a file is of which a reply tells. */
  readonly lacks?: readonly {
    readonly worker: string;
    readonly path: string;
    readonly sha256: string;
    /** Of this worker that wait for the file. */
    readonly slices: number;
  }[];
}
export interface StepCosts {
  readonly step: string;
  /** A job that slots of several steps share counts at the step that asked for it first. */
  readonly jobs: number;
  readonly done: number;
  readonly submits: number;
  /** Absent when nothing of it is priced. */
  readonly cost?: number;
  /** What submissions that nobody answered may have cost beside it; absent: nothing. */
  readonly possibleCost?: number;
  readonly tokens: number;
  /** Estimated tokens of replies without a token count, and of text calls whose answer was lost, beside the others. */
  readonly assumedTokens?: number;
  /** Its submissions whose answer never came; absent: none. */
  readonly unanswered?: number;
}
export interface ShownDiagnostic {
  readonly severity: 'error' | 'warning';
  /** For programs, for example schema.value. */
  readonly code: string;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** The pipeline, or a table of it; where a flag is wrong, that flag (--set animal=lynx), and line is 1. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Of what is marked on that line, in UTF-16 units, as columns are. */
  readonly length: number;
}
