// Generated from schemas/ by `npm run generate`. Do not edit.

export type LsCount = number;
export type ValidateNumber = number;
/**
 * ISO 8601, UTC.
 */
export type RunTime = string;
export type RunExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 70 | 74 | 75 | 129 | 130 | 143;
export type RunCount = number;
/**
 * Skipped: its button is optional and not there.
 */
export type ShowStatus =
  'pending' | 'submitting' | 'running' | 'modal' | 'saving' | 'done' | 'failed' | 'in-doubt' | 'skipped';
/**
 * As the pipeline names the file, relative to itself; absent: nobody says where it lay.
 */
export type ShowPath = string;
/**
 * ISO 8601, UTC.
 */
export type ShowTime = string;
export type StatusCount = number;
/**
 * Why slots of the last run failed before anything was asked, most frequent first: they have no job.
 */
export type StatusReasons = {
  code: string;
  count: StatusCount;
  /**
   * The most frequent one.
   */
  message: string;
  /**
   * How many different ones there are besides; absent for none.
   */
  otherMessages?: number;
}[];
/**
 * Failed and in-doubt jobs by error code, most frequent first.
 */
export type StatusReasons1 = {
  code: string;
  count: StatusCount;
  /**
   * The most frequent one.
   */
  message: string;
  /**
   * How many different ones there are besides; absent for none.
   */
  otherMessages?: number;
}[];
export type ValidateCount = number;

/**
 * What commands print with `--json`, by command.
 */
export interface JsonOutputs {
  /**
   * What `promptpress ls --json` prints: one object about the run directories in a folder and below it, or about the runs on an engine, whose `directory` is `postgres://…#NAME`. Paths are relative to the current folder.
   */
  ls: {
    /**
     * The search ended early: there may be more.
     */
    truncated: boolean;
    /**
     * In the order of their directories.
     */
    runs: (
      | {
          directory?: string;
          /**
           * Why its state cannot be read.
           */
          problem: string;
        }
      | {
          directory?: string;
          /**
           * Of the pipeline, as it last ran.
           */
          name?: string;
          /**
           * The pipeline's file; absent when no run got that far.
           */
          file?: string;
          /**
           * A run is on; or how the last one ended: complete (exit code 0), failures (it ended, and not all is done), stopped by the service, at its budget, by the disk, interrupted, killed; or empty: nothing has run. Of a run on an engine also registered: no worker has begun, and waiting: there is work, and no worker.
           */
          state:
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
          /**
           * Of a run on an engine that is on: its workers that are at work.
           */
          workers?: number;
          /**
           * Of the run that is on, or of the last one.
           */
          startedAt?: string;
          /**
           * Absent while the run is on, and when it was killed.
           */
          finishedAt?: string;
          exitCode?: number;
          /**
           * Progress of the run under way, or else of the last one, by its plan before the first submission. Absent until that plan is made.
           */
          planned?: {
            /**
             * Planned jobs, and slots without a job; once a run has ended, slots.
             */
            total: number;
            /**
             * There may be fewer.
             */
            atMost?: true;
            settled: LsCount;
            /**
             * Rounded down.
             */
            percent: number;
            /**
             * Time left at the rate of the run so far; absent where no run is under way, or none of its jobs has settled yet.
             */
            leftMs?: number;
          };
          /**
           * Jobs of the directory, whether they are still planned or not.
           */
          jobs: {
            done: LsCount;
            failed: LsCount;
            inDoubt: LsCount;
            /**
             * Under way, or waiting for their turn.
             */
            open: number;
            /**
             * Their optional button is not there.
             */
            skipped: number;
          };
          /**
           * Over the directory's life.
           */
          submits: number;
          /**
           * Sum of the known costs over the directory's life; absent when nothing is priced.
           */
          cost?: number;
          /**
           * What submissions that nobody answered may have cost in addition; absent: nothing.
           */
          possibleCost?: number;
          tokens: LsCount;
        }
    )[];
  };
  /**
   * What `promptpress models --json` prints: the models that the service lists.
   */
  models: {
    /**
     * Origin of the service that was asked.
     */
    service: string;
    /**
     * By id.
     */
    models: {
      /**
       * What `model` of a text step names.
       */
      id: string;
      /**
       * Where the service says so.
       */
      ownedBy?: string;
      /**
       * ISO 8601, UTC; where the service says so.
       */
      created?: string;
      /**
       * Kinds of endpoint that the model is said to serve; often empty.
       */
      endpoints: string[];
    }[];
    /**
     * With FILE: models that the pipeline asks and the service does not list.
     */
    unlisted?: {
      model: string;
      /**
       * One that asks it.
       */
      step: string;
    }[];
  };
  /**
   * What `promptpress plan --json` prints: what a run would do, and why. slots = jobs + shared + skipped + blocked + waiting + invalid; jobs = submits + held + running + unsaved + done + inDoubt + failed.
   */
  plan: {
    /**
     * The pipeline's name.
     */
    pipeline: string;
    /**
     * The pipeline file as it was given.
     */
    file: string;
    /**
     * Identity of the service: part of every job key.
     */
    service: string;
    /**
     * Where a run would send its requests, and the key. Absent where no address is known, and with --sandbox.
     */
    origin?: string;
    /**
     * Combinations of the matrix.
     */
    cells: {
      /**
       * All of the plan.
       */
      total: number;
      /**
       * Those that the flags choose.
       */
      chosen: number;
    };
    /**
     * Slots of every cell over all steps; a wildcard and what hangs below it count once.
     */
    slotsPerCell: number;
    /**
     * True: every chosen slot was looked at. False: slots are counted by multiplication; jobs, submits, tokens and cost are upper bounds, and nothing done, shared or skipped is known.
     */
    exact: boolean;
    /**
     * The sum over all steps.
     */
    total: {
      /**
       * Planned rows of the manifest, at least.
       */
      slots: number;
      /**
       * Different requests.
       */
      jobs: number;
      /**
       * Slots whose job is counted at another slot already: made and paid once.
       */
      shared: number;
      /**
       * Jobs that are to be submitted, once each if nothing fails.
       */
      submits: number;
      why: PlanWhy;
      /**
       * Jobs that would be submitted, but below a job in doubt: they wait until that is settled.
       */
      held: number;
      /**
       * Jobs that an earlier run left under way: followed, not submitted again.
       */
      running: number;
      /**
       * Jobs that are made, but whose file is still to be fetched, or whose text is still to be written: that costs nothing.
       */
      unsaved: number;
      /**
       * Jobs that are done.
       */
      done: number;
      /**
       * Jobs in doubt: they were submitted and no answer came.
       */
      inDoubt: number;
      /**
       * Jobs that failed before: only --retry-failed submits them again.
       */
      failed: number;
      /**
       * Slots that are left out: a condition that does not hold, or an optional button that is not there.
       */
      skipped: number;
      /**
       * Slots below a failed job.
       */
      blocked: number;
      /**
       * Slots whose request waits for a result: a wildcard, or a template that names a step.
       */
      waiting: number;
      /**
       * Jobs among `submits`, `running` and `unsaved` whose result is cut into frames (`grid: split`), as far as the names of buttons tell which make grids. Absent: no step says that.
       */
      cuts?: number;
      /**
       * Slots that fail before anything is asked: a template cannot be rendered for their cell, a wildcard finds no button, an image that is to be shown is not there.
       */
      invalid: number;
      tokens: PlanTokens;
      /**
       * Of the submissions with a known price, in the unit of `prices`; where a price is by tokens, as much a guess as they are.
       */
      cost: number;
      /**
       * Submissions without a known price.
       */
      unpriced: number;
      later: PlanLater;
    };
    /**
     * The pipeline gives prices.
     */
    priced: boolean;
    /**
     * What the submissions without a price are called (buttons, models, kinds), each once, in plan order.
     *
     * @maxItems 20
     */
    unpricedNames: string[];
    /**
     * The steps that the flags choose, in file order.
     */
    steps: PlanStep[];
    /**
     * Jobs of open orders to make them anew (--redo, --redo-jobs), with what the flags add. Absent: there is none.
     */
    redo?: {
      /**
       * To be begun, or given back.
       */
      waiting: number;
      /**
       * Submitted, and not settled.
       */
      begun: number;
      /**
       * Settled, of orders that are not closed.
       */
      made: number;
    };
    /**
     * What is still to come at most: the cost of all submissions (total.cost), and of all slots that wait for results (total.later.cost).
     */
    atMost: number;
    /**
     * What the run directory holds, of this plan or not. Absent without one.
     */
    state?: {
      /**
       * Jobs by status.
       */
      jobs: {
        [k: string]: number;
      };
      /**
       * Submissions over the directory's life.
       */
      attempts: number;
      /**
       * Sum of the tokens that answers are known to have taken.
       */
      tokens: number;
      /**
       * Sum of the known costs.
       */
      cost: number;
      /**
       * What submissions that nobody answered may have cost beside it. budget.cost counts it too.
       */
      possibleCost: number;
    };
    /**
     * The first few prompts that are to be submitted, as they would be sent.
     */
    examples: {
      /**
       * The cell's number, from 1.
       */
      cell: number;
      /**
       * The step's name.
       */
      step: string;
      /**
       * The prompt, rendered.
       */
      prompt: string;
    }[];
    /**
     * What the user may not expect; nothing is wrong with the file.
     */
    warnings: {
      /**
       * Which notice.
       */
      code:
        | 'plan.at-most'
        | 'plan.open'
        | 'plan.invalid'
        | 'plan.shared'
        | 'plan.not-kept'
        | 'redo.made'
        | 'redo.same'
        | 'budget.submits'
        | 'budget.tokens'
        | 'budget.cost';
      /**
       * A sentence for the user.
       */
      message: string;
    }[];
  };
  /**
   * What a command with `--json` prints where it does not do what it was asked for: `run`, `plan`, `status`, `ls`, `show` and `models`.
   */
  refused: {
    error: {
      /**
       * pipeline.invalid; the code of a state, a table, the disk or a bucket, such as state.locked; else the name of the exit code: usage, disk, internal.
       */
      code: string;
      message: string;
      /**
       * What to do about it.
       */
      hint?: string;
    };
    /**
     * Every mistake of a pipeline that is not valid; absent for all other failures.
     */
    diagnostics?: ValidateDiagnostic[];
  };
  /**
   * What `promptpress run --json` prints: one object about one invocation. Paths are relative to the current folder.
   */
  run: {
    /**
     * The pipeline's name.
     */
    pipeline: string;
    /**
     * The pipeline's file as it was given.
     */
    file: string;
    /**
     * The service's identity, part of every job key.
     */
    service: string;
    /**
     * Where the requests went, and the key.
     */
    origin: string;
    /**
     * The local service was used.
     */
    sandbox: boolean;
    /**
     * The run directory.
     */
    directory: string;
    /**
     * Absent unless there are any.
     */
    images?: string;
    /**
     * Whole replies of text calls; absent unless there are any. The texts are in the manifest.
     */
    replies?: string;
    /**
     * Absent unless there are any.
     */
    videos?: string;
    log: string;
    /**
     * Absent when the run left before it was written.
     */
    manifest?: string;
    startedAt: RunTime;
    finishedAt: RunTime;
    end: RunEnd;
    exitCode: RunExitCode;
    /**
     * Submissions of this invocation.
     */
    submits: number;
    /**
     * Finished jobs that --redo named and that stay as they were, because nothing came of it; absent when there are none.
     */
    redosFailed?: number;
    /**
     * Jobs of orders to make them anew (--redo, --redo-jobs). Absent: there was no order.
     */
    redo?: {
      /**
       * To be begun, or given back.
       */
      waiting: number;
      /**
       * Submitted, and not settled.
       */
      begun: number;
      /**
       * Settled, of orders that are not closed.
       */
      made: number;
      /**
       * Made by the orders that this run has closed, because nothing was left of them.
       */
      closed: number;
    };
    /**
     * Tasks that timed out at the gateway in this invocation and were submitted, and maybe paid, again; absent when there are none.
     */
    timedOutAgain?: number;
    /**
     * Jobs of the directory that are pending because they were refused: nothing was paid for them, and a later run tries them again. Absent when there are none.
     */
    putBack?: number;
    /**
     * What the service accepts, as the runs of the directory have found it; absent: it refused nothing. `run --relearn` forgets it.
     */
    limits?: {
      /**
       * Tasks that it accepts at a time; absent: it refused none.
       */
      tasks?: number;
      /**
       * Requests a minute that it accepts, by kind of request; absent: it refused none of the kind.
       */
      perMinute: {
        submit?: number;
        text?: number;
        poll?: number;
        download?: number;
      };
      /**
       * Text calls a minute that it accepts, by model; absent: it refused none.
       */
      lanes?: {
        [k: string]: number;
      };
      /**
       * Requests that it accepts at a time: of `poll`, `download`, or `text/` and the model; absent: it refused none.
       */
      atOnce?: {
        [k: string]: number;
      };
      /**
       * The part of the requests that it last refused by chance: of `submit`, `poll`, `download`, or `text/` and the model. The next run begins without. Absent: none.
       */
      byChance?: {
        [k: string]: number;
      };
    };
    /**
     * Grids that this invocation cut into frames (`grid: split`); absent when there are none.
     */
    gridsCut?: number;
    tokens?: RunTokens;
    /**
     * What this run has cost; absent: nothing that is known.
     */
    runCost?: number;
    /**
     * Tokens of all replies over the directory's life, as status has them; absent: none.
     */
    allTokens?: number;
    /**
     * What the directory has cost so far, over its life, as status says it, in the unit of the pipeline's prices; absent: nothing is priced.
     */
    cost?: number;
    /**
     * Estimated tokens of replies without a token count, and of text calls whose answer was lost, beside the others: budget.tokens counts them. Absent: there was none.
     */
    assumedTokens?: number;
    /**
     * What submissions that nobody answered may have cost beside it, over the directory's life; absent: nothing. budget.cost counts it too.
     */
    possibleCost?: number;
    /**
     * Submissions and text calls whose answer never came, because the run or the connection ended: they may have been paid. Absent: none.
     */
    unanswered?: number;
    /**
     * Different jobs whose files have the same bytes: most often the service had removed the images, and gave one picture for all of them. Absent: none were found.
     */
    sameFiles?: {
      /**
       * Jobs with a file whose bytes another job has too.
       */
      jobs: number;
      /**
       * Different contents among these files.
       */
      contents: number;
      /**
       * The content that most jobs have: how many, one of their files relative to the run directory, and two of their keys.
       */
      example: {
        jobs: number;
        file: string;
        first: string;
        second: string;
      };
    };
    /**
     * The slots that the flags chose, by status; absent when the run left before they were counted.
     */
    slots?: {
      pending: RunCount;
      submitting: RunCount;
      running: RunCount;
      modal: RunCount;
      saving: RunCount;
      done: RunCount;
      failed: RunCount;
      'in-doubt': RunCount;
      skipped: RunCount;
      blocked: RunCount;
    };
    /**
     * Slots in the manifest that the flags did not choose: they have a result.
     */
    otherSlots?: number;
    /**
     * Rows of the manifest.
     */
    rows?: number;
    /**
     * Rows that name a file.
     */
    files?: number;
    /**
     * Why chosen slots failed or are in doubt, most frequent first.
     */
    reasons: {
      status: 'failed' | 'in-doubt';
      /**
       * Closed dotted code, for example task.failed.
       */
      code: string;
      count: RunCount;
      /**
       * How many of them failed before anything was asked: they have no job to try again. Absent: none.
       */
      unasked?: number;
      /**
       * The most frequent one.
       */
      message: string;
      /**
       * How many different ones there are besides; absent for none.
       */
      otherMessages?: number;
    }[];
    /**
     * Jobs of the directory in doubt.
     *
     * @maxItems 20
     */
    inDoubt: {
      /**
       * The job's key.
       */
      job: string;
      step: string;
      branch: string;
      cell: number;
    }[];
  };
  /**
   * What `promptpress show --json` prints: one object about one job of a run directory. Texts are as the pipeline and the service said them.
   */
  show: {
    /**
     * Relative to the current folder.
     */
    directory: string;
    /**
     * A run is on.
     */
    running: boolean;
    /**
     * The job's key.
     */
    job: string;
    status: ShowStatus;
    /**
     * A submission was sent and nobody waits for its answer any more: `promptpress resolve` settles it. True also for a job that a killed run left in `submitting`.
     */
    inDoubt: boolean;
    /**
     * Where it was first asked for.
     */
    asked: {
      cell: number;
      step: string;
      branch: string;
      /**
       * Changed: the place had asked for another job before.
       */
      reason: 'new' | 'changed';
      /**
       * Of changed: the key of that job.
       */
      replaces?: string;
    };
    /**
     * What is asked of the service, by the pipeline's names of the fields.
     */
    request: {
      kind: string;
      fields: {
        [k: string]: unknown;
      };
      extra?: {
        [k: string]: unknown;
      };
      /**
       * Of a click: the first of these that the parent's task offers is pressed.
       */
      press?: unknown[];
      [k: string]: unknown;
    };
    /**
     * The images that its request shows, in order.
     */
    shows: (
      | ShowShownFile
      | {
          kind: 'address';
          /**
           * As declared; of a data URI only what comes before the data.
           */
          url: string;
        }
      | {
          kind: 'job';
          job: string;
          cell?: number;
          step?: string;
          branch?: string;
          status?: ShowStatus;
          taskId?: string;
          /**
           * Relative to the run directory; none: they were not kept.
           */
          files: string[];
        }
    )[];
    /**
     * Which part of the image is repainted.
     */
    mask?:
      | {
          kind: 'file';
          path?: ShowPath;
          sha256: string;
          invert: boolean;
        }
      | {
          kind: 'shapes';
          shapes: {
            [k: string]: unknown;
          }[];
          invert: boolean;
        };
    /**
     * Its own, else its nearest ancestor's, exactly as sent.
     */
    prompt?: string;
    speed?: string;
    /**
     * The button that was found and pressed.
     */
    pressed?: {
      customId: string;
      label: string;
      emoji: string;
    };
    /**
     * What it continues: its parent, or all that it gathers, in order; of a text job also what it shows. Its parent is named with the task that the job was made from.
     */
    inputs: ShowMention[];
    /**
     * The task whose button it pressed, or that it was made from: also where its parent was made again since. Absent: none, or nobody knows.
     */
    parentTaskId?: string;
    /**
     * What it came from was made again since: the next run that plans it makes it again too. Absent: no.
     */
    outdated?: true;
    /**
     * What continues it, oldest first.
     *
     * @maxItems 100
     */
    children: ShowMention[];
    /**
     * There are more than are listed.
     */
    moreChildren: boolean;
    /**
     * Submissions that may have cost money.
     */
    attempts: number;
    /**
     * Submissions and decisions, oldest first.
     */
    history: {
      at: ShowTime;
      /**
       * What the answer came to (accepted, refused, lost, …); task.failed: the task failed and is to be submitted again; unanswered: sent, and no answer is on record; user.adopted, user.dropped, user.retry: the user’s choice in `promptpress resolve`.
       */
      outcome: string;
      taskId?: string;
      error?: ShowError;
    }[];
    /**
     * The service's id of its task.
     */
    taskId?: string;
    submittedAt?: ShowTime;
    finishedAt?: ShowTime;
    /**
     * In the unit of the pipeline's prices; absent: unknown.
     */
    cost?: number;
    /**
     * Submissions and text calls whose answer never came, so that they may have been paid; absent: none.
     */
    doubtful?: {
      count: number;
      /**
       * What they may have cost beside the job's cost; absent: unknown.
       */
      cost?: number;
    };
    error?: ShowError;
    /**
     * What the error means for the user.
     */
    advice?: string;
    /**
     * The service's link to the image, which may be outdated.
     */
    imageUrl?: string;
    /**
     * Labels (else emoji, else ids) of the buttons that its task offers.
     */
    buttons: string[];
    /**
     * Frames were wanted of its file (`grid: split`), and there are none: why.
     */
    whole?: {
      code: string;
      message: string;
    };
    /**
     * Its files; behind a grid its frames.
     */
    artifacts: {
      output: number;
      /**
       * Relative to the run directory.
       */
      file: string;
      bytes: number;
      sha256: string;
      mime: string;
      width?: number;
      height?: number;
      /**
       * Of a text job: which candidate it belongs to, from 1.
       */
      candidate?: number;
    }[];
    /**
     * Of a text job: what its last answer came to, also where the job failed for it.
     */
    answer?: {
      /**
       * The model version that answered.
       */
      model?: string;
      requestId?: string;
      responseId?: string;
      /**
       * Why the prompt was not answered at all.
       */
      blockReason?: string;
      candidates: {
        text: string;
        finishReason?: string;
        /**
         * What a lenient reading of JSON passed over or mended; absent: nothing.
         */
        passedOver?: string[];
      }[];
      reply?: ShowReply;
    };
    /**
     * Tokens of all answers that it was ever given; what the service did not say is absent.
     */
    usage?: {
      prompt?: number;
      cached?: number;
      candidates?: number;
      thoughts?: number;
      tool?: number;
      other?: number;
      total?: number;
    };
    /**
     * Rounds of function calls that were answered, oldest first.
     */
    rounds?: {
      /**
       * Names of the functions.
       */
      calls: string[];
      reply?: ShowReply1;
    }[];
    /**
     * Answers that came and could not be used.
     */
    unusable?: number;
    /**
     * What can be done about it: commands to copy.
     */
    next: {
      command: string;
      does: string;
    }[];
  };
  /**
   * What `promptpress status --json` prints: one object about a run directory. Paths are relative to the current folder.
   */
  status: {
    directory: string;
    /**
     * The pipeline's file; absent when no run got that far.
     */
    file?: string;
    /**
     * The service's identity.
     */
    service?: string;
    /**
     * Where the last run's requests went; absent for a rehearsal.
     */
    origin?: string;
    /**
     * What of the directory was made for other services than that of the last run: only runs against them go on with it. It is counted in jobs, doubts and costs too. Absent where there is none.
     */
    otherServices?: {
      /**
       * Its identity.
       */
      service: string;
      /**
       * Where it was, as far as it was noted.
       */
      origin?: string;
      jobs: StatusCount;
      /**
       * Those of them that are in doubt.
       */
      doubts: number;
    }[];
    /**
     * Axes of the matrix that the runs of the directory replace (--set), with each value as the user wrote it; absent where none is.
     */
    set?: {
      axis: string;
      value: string;
    }[];
    /**
     * Of a run on an engine that has begun: where it stands. registered: no worker has begun; running: workers are at work, or its coordinator is about to end it; waiting: there is work, and no worker; unled: its coordinator ended before all cells were given, and no worker is at work; complete: all is done; stopped: it ended before.
     */
    stage?: {
      state: 'registered' | 'running' | 'waiting' | 'unled' | 'complete' | 'stopped';
      /**
       * Those that are at work.
       */
      workers: number;
      /**
       * A process of promptpress run leads it.
       */
      led: boolean;
    };
    /**
     * Of a run on an engine: how its workers are doing.
     */
    engine?: {
      /**
       * open: slices are taken; stopping: all workers settle what is in flight; ended: nothing more is done.
       */
      state: 'open' | 'stopping' | 'ended';
      /**
       * A process of promptpress run leads it.
       */
      led: boolean;
      /**
       * Those that have not ended; times are Unix milliseconds by the engine's clock.
       */
      workers: {
        name: string;
        session: number;
        startedAt: number;
        seenAt: number;
        alive: boolean;
        /**
         * How many it holds.
         */
        slices: number;
      }[];
      slices: {
        /**
         * Nobody works on them: a number to scale workers by.
         */
        waiting: number;
        held: StatusCount;
        done: StatusCount;
        /**
         * All cells are in slices.
         */
        fed: boolean;
      };
      /**
       * How often a slice was taken from a worker that had not let go of it.
       */
      takeovers: number;
      /**
       * Requests of all workers of all runs at this service.
       */
      rates: {
        route: string;
        perMinute: number;
        pausedMs?: number;
      }[];
      /**
       * Image tasks in flight at this service, of all runs.
       */
      tasks: {
        granted: StatusCount;
        used: StatusCount;
        /**
         * The service refused more than so many.
         */
        accepted?: number;
      };
      /**
       * What all workers of the run may spend, and have.
       */
      spending: {
        kind: 'cost' | 'tokens' | 'submits' | 'invocation';
        most: number;
        used: number;
      }[];
      /**
       * Workers that lack a file as the run has it, at most 100, those first for whose file most slices wait; absent where none does. sha256 is empty while the coordinator has not said what a file is of which a reply tells.
       */
      lacks?: {
        worker: string;
        path: string;
        sha256: string;
        /**
         * Of this worker that wait for the file.
         */
        slices: number;
      }[];
    };
    /**
     * A run is on.
     */
    running: boolean;
    /**
     * Who runs.
     */
    owner?: {
      pid: number;
      host: string;
    };
    /**
     * Of the run that is on, or of the last one.
     */
    startedAt?: string;
    /**
     * Absent while the run is on, and when it was killed.
     */
    finishedAt?: string;
    /**
     * Why the last run came to its end.
     */
    end?: {
      kind: 'complete' | 'stopped' | 'budget' | 'disk' | 'interrupted' | 'fail-fast';
      code?: string;
      message?: string;
      forced?: boolean;
    };
    exitCode?: number;
    /**
     * Jobs settled in a minute, on average since the run began.
     */
    perMinute?: number;
    /**
     * Progress of the run under way, or else of the last one, by its plan before the first submission. Absent until that plan is made.
     */
    planned?: {
      /**
       * Planned jobs, and slots without a job; once a run has ended, slots.
       */
      total: number;
      /**
       * There may be fewer.
       */
      atMost?: true;
      settled: StatusCount;
      /**
       * Rounded down.
       */
      percent: number;
      /**
       * Time left at the rate of the run so far; absent where no run is under way, or none of its jobs has settled yet.
       */
      leftMs?: number;
    };
    /**
     * Jobs of the directory by status, whether they are still planned or not.
     */
    jobs: {
      pending: StatusCount;
      submitting: StatusCount;
      running: StatusCount;
      modal: StatusCount;
      saving: StatusCount;
      done: StatusCount;
      failed: StatusCount;
      'in-doubt': StatusCount;
      /**
       * Their optional button is not there.
       */
      skipped: number;
    };
    /**
     * Planned slots that the last run's flags chose, by status, as it left them; with those that never became a job. Absent while a run is on, and when it was killed.
     */
    slots?: {
      pending: StatusCount;
      submitting: StatusCount;
      running: StatusCount;
      modal: StatusCount;
      saving: StatusCount;
      done: StatusCount;
      failed: StatusCount;
      'in-doubt': StatusCount;
      skipped: StatusCount;
      blocked: StatusCount;
    };
    unasked: StatusReasons;
    /**
     * Submissions over the directory's life.
     */
    submits: number;
    /**
     * Tokens of all replies over the directory's life, where the service reported them.
     */
    tokens: number;
    /**
     * Sum of the known costs over the directory's life, in the unit of the pipeline's prices; absent when nothing is priced.
     */
    cost?: number;
    /**
     * Estimated tokens of replies without a token count, and of text calls whose answer was lost, beside the others: budget.tokens counts them. Absent: there was none.
     */
    assumedTokens?: number;
    /**
     * What submissions that nobody answered may have cost beside it, over the directory's life; absent: nothing. budget.cost counts it too.
     */
    possibleCost?: number;
    /**
     * Submissions and text calls whose answer never came, because the run or the connection ended: they may have been paid. Absent: none.
     */
    unanswered?: number;
    /**
     * Tasks that timed out at the gateway in the last run and were submitted, and maybe paid, again. Absent: none.
     */
    timedOutAgain?: number;
    /**
     * Jobs of open orders to make them anew (--redo, --redo-jobs): runs go on with them. Absent: there is no open one.
     */
    redo?: {
      /**
       * To be begun, or given back.
       */
      waiting: number;
      /**
       * Submitted, and not settled.
       */
      begun: number;
      /**
       * Settled, of orders that are not closed.
       */
      made: number;
    };
    /**
     * Jobs that wait for a later run because they were refused, by kind of request and reason, most frequent first. Nothing was paid for them.
     */
    putBack: {
      /**
       * What was asked for: imagine, pan, a model; of a button that was not read yet, its slot.
       */
      kind: string;
      /**
       * Code of the refusal.
       */
      code: string;
      /**
       * Jobs.
       */
      count: number;
      /**
       * The most frequent message.
       */
      message: string;
      /**
       * How many different messages there are besides. Absent: none.
       */
      otherMessages?: number;
    }[];
    /**
     * Different jobs whose files have the same bytes, as the end of the last run found: most often the service had removed the images, and gave one picture for all of them. Absent: none were found.
     */
    sameFiles?: {
      /**
       * Jobs with a file whose bytes another job has too.
       */
      jobs: number;
      /**
       * Different contents among these files.
       */
      contents: number;
      /**
       * The content that most jobs have: how many, one of their files relative to the run directory, and two of their keys.
       */
      example: {
        jobs: number;
        file: string;
        first: string;
        second: string;
      };
    };
    /**
     * What each step has cost over the directory's life, in the order in which their first jobs came.
     */
    steps: {
      step: string;
      /**
       * A job that slots of several steps share counts at the step that asked for it first.
       */
      jobs: number;
      done: StatusCount;
      submits: StatusCount;
      /**
       * Absent when nothing of it is priced.
       */
      cost?: number;
      /**
       * What submissions that nobody answered may have cost beside it; absent: nothing.
       */
      possibleCost?: number;
      tokens: StatusCount;
      /**
       * Estimated tokens of replies without a token count, and of text calls whose answer was lost, beside the others.
       */
      assumedTokens?: number;
      /**
       * Its submissions whose answer never came; absent: none.
       */
      unanswered?: number;
    }[];
    /**
     * What the runs of the directory have learned about the service; absent: nothing. `run --relearn` forgets it.
     */
    learned?: {
      /**
       * How long its tasks take, from submission to end, by kind: operation, model version, speed. The kind with most tasks first.
       */
      durations: {
        kind: string;
        /**
         * Finished tasks that this was learned from.
         */
        tasks: number;
        /**
         * Half of the tasks take no longer, in seconds.
         */
        median: number;
        /**
         * A tenth takes no longer, in seconds.
         */
        from: number;
        /**
         * A tenth takes longer, in seconds.
         */
        to: number;
      }[];
      /**
       * What the service accepts, where it has refused more; absent: it refused nothing.
       */
      limits?: {
        /**
         * Tasks that it accepts at a time; absent: it refused none.
         */
        tasks?: number;
        /**
         * Requests a minute that it accepts, by kind of request; absent: it refused none of the kind.
         */
        perMinute: {
          submit?: number;
          text?: number;
          poll?: number;
          download?: number;
        };
        /**
         * Text calls a minute that it accepts, by model; absent: it refused none.
         */
        lanes?: {
          [k: string]: number;
        };
        /**
         * Requests that it accepts at a time: of `poll`, `download`, or `text/` and the model; absent: it refused none.
         */
        atOnce?: {
          [k: string]: number;
        };
        /**
         * The part of the requests that it last refused by chance: of `submit`, `poll`, `download`, or `text/` and the model. The next run begins without. Absent: none.
         */
        byChance?: {
          [k: string]: number;
        };
      };
    };
    reasons: StatusReasons1;
    /**
     * Jobs in doubt, with those that a killed run left while they were being submitted.
     */
    doubts: number;
    /**
     * The first of them.
     *
     * @maxItems 20
     */
    inDoubt: {
      /**
       * The job's key.
       */
      job: string;
      step: string;
      branch: string;
      cell: number;
      code: string;
    }[];
  };
  /**
   * What `promptpress validate --json` prints: one object about all files that were named.
   */
  validate: {
    /**
     * Every file is: the exit code is 0. Else it is 2.
     */
    valid: boolean;
    /**
     * In the order in which they were named.
     */
    files: {
      /**
       * As it was named.
       */
      file: string;
      valid: boolean;
      errors: ValidateCount;
      warnings: ValidateCount;
      /**
       * Every mistake in the file and in its tables.
       */
      diagnostics: ValidateDiagnostic[];
      /**
       * With --online, of a valid file: what the service says of it. Its models are compared with those that the service lists.
       */
      online?: {
        /**
         * Models that the pipeline asks.
         */
        asked: number;
        /**
         * Origin of the service.
         */
        service?: string;
        /**
         * Models that the service lists.
         */
        listed?: number;
        /**
         * The pipeline makes images, and the image workflow is there under its names and takes the key.
         */
        images?: true;
        /**
         * Models that the pipeline asks and the service does not list.
         */
        unlisted: {
          model: string;
          /**
           * One of the steps that ask it.
           */
          step: string;
          /**
           * Of that step in the file.
           */
          line: number;
        }[];
      };
    }[];
  };
}
/**
 * Why jobs are to be submitted.
 */
export interface PlanWhy {
  /**
   * Their slot had no job before.
   */
  new: number;
  /**
   * Their slot had another job before: its request was edited.
   */
  changed: number;
  /**
   * The flags have a job tried again that failed or is in doubt, or a text call is made again whose answer never came.
   */
  retry: number;
  /**
   * A finished job is made again (--redo), or what it came from is, or was since.
   */
  anew: number;
}
/**
 * About what the text calls among the submissions take: a guess from what they say, show and may answer.
 */
export interface PlanTokens {
  /**
   * Tokens sent.
   */
  input: number;
  /**
   * Tokens answered, thinking included.
   */
  output: number;
}
/**
 * What the waiting slots take besides, if each of them becomes a job: a guess, with stand-ins for the results that they wait for.
 */
export interface PlanLater {
  tokens: PlanTokens;
  /**
   * Of those with a known price, in the unit of `prices`.
   */
  cost: number;
  /**
   * Those without a known price.
   */
  unpriced: number;
}
/**
 * One step's part.
 */
export interface PlanStep {
  /**
   * The step's name.
   */
  step: string;
  /**
   * The step's kind; what its path presses are clicks.
   */
  kind: 'imagine' | 'click' | 'blend' | 'describe' | 'shorten' | 'video' | 'edit' | 'generate' | 'chat';
  /**
   * Its path presses buttons: the slots that come of that are clicks.
   */
  path: boolean;
  /**
   * A wildcard is among its slots or above them: it may have more slots than counted.
   */
  open: boolean;
  /**
   * Planned rows of the manifest, at least.
   */
  slots: number;
  /**
   * Different requests.
   */
  jobs: number;
  /**
   * Slots whose job is counted at another slot already: made and paid once.
   */
  shared: number;
  /**
   * Jobs that are to be submitted, once each if nothing fails.
   */
  submits: number;
  why: PlanWhy;
  /**
   * Jobs that would be submitted, but below a job in doubt: they wait until that is settled.
   */
  held: number;
  /**
   * Jobs that an earlier run left under way: followed, not submitted again.
   */
  running: number;
  /**
   * Jobs that are made, but whose file is still to be fetched, or whose text is still to be written: that costs nothing.
   */
  unsaved: number;
  /**
   * Jobs that are done.
   */
  done: number;
  /**
   * Jobs in doubt: they were submitted and no answer came.
   */
  inDoubt: number;
  /**
   * Jobs that failed before: only --retry-failed submits them again.
   */
  failed: number;
  /**
   * Slots that are left out: a condition that does not hold, or an optional button that is not there.
   */
  skipped: number;
  /**
   * Slots below a failed job.
   */
  blocked: number;
  /**
   * Slots whose request waits for a result: a wildcard, or a template that names a step.
   */
  waiting: number;
  /**
   * Jobs among `submits`, `running` and `unsaved` whose result is cut into frames (`grid: split`), as far as the names of buttons tell which make grids. Absent: no step says that.
   */
  cuts?: number;
  /**
   * Slots that fail before anything is asked: a template cannot be rendered for their cell, a wildcard finds no button, an image that is to be shown is not there.
   */
  invalid: number;
  tokens: PlanTokens;
  /**
   * Of the submissions with a known price, in the unit of `prices`; where a price is by tokens, as much a guess as they are.
   */
  cost: number;
  /**
   * Submissions without a known price.
   */
  unpriced: number;
  later: PlanLater;
}
export interface ValidateDiagnostic {
  severity: 'error' | 'warning';
  /**
   * For programs, for example schema.value.
   */
  code: string;
  message: string;
  /**
   * What to do about it.
   */
  hint?: string;
  /**
   * The pipeline, or a table of it; where a flag is wrong, that flag (--set animal=lynx), and line is 1.
   */
  file: string;
  line: ValidateNumber;
  column: ValidateNumber;
  /**
   * Of what is marked on that line, in UTF-16 units, as columns are.
   */
  length: number;
}
/**
 * Why the run came to its end.
 */
export interface RunEnd {
  kind: 'complete' | 'stopped' | 'budget' | 'disk' | 'interrupted' | 'fail-fast';
  /**
   * Closed dotted code; not of complete and interrupted.
   */
  code?: string;
  message?: string;
  /**
   * Interrupted by a second signal.
   */
  forced?: boolean;
}
/**
 * Sums of the manifest's token columns; absent when none were counted.
 */
export interface RunTokens {
  /**
   * Of the requests, cached ones included.
   */
  prompt?: number;
  cached?: RunCount;
  /**
   * Of the answers.
   */
  candidates?: number;
  thoughts?: RunCount;
  /**
   * What tools brought into the requests.
   */
  tool?: number;
  /**
   * What a total has above its parts; priced at the dearer of both prices.
   */
  other?: number;
  total?: RunCount;
}
/**
 * A file, by what it was when the job was planned.
 */
export interface ShowShownFile {
  kind: 'file';
  path?: ShowPath;
  sha256: string;
}
/**
 * Another job; only its key where nothing is on record of it.
 */
export interface ShowMention {
  job: string;
  cell?: number;
  step?: string;
  branch?: string;
  status?: ShowStatus;
  taskId?: string;
}
export interface ShowError {
  /**
   * Closed dotted code, for example task.failed.
   */
  code: string;
  message: string;
  requestId?: string;
  httpStatus?: number;
}
/**
 * The service's whole answer; absent where it was not kept (`keepReplies`).
 */
export interface ShowReply {
  /**
   * Relative to the run directory.
   */
  file: string;
  /**
   * Bytes before the line.
   */
  offset: number;
  /**
   * Bytes of the line, without its line break.
   */
  length: number;
  /**
   * Of these bytes.
   */
  sha256: string;
}
/**
 * The service's whole answer; absent where it was not kept (`keepReplies`).
 */
export interface ShowReply1 {
  /**
   * Relative to the run directory.
   */
  file: string;
  /**
   * Bytes before the line.
   */
  offset: number;
  /**
   * Bytes of the line, without its line break.
   */
  length: number;
  /**
   * Of these bytes.
   */
  sha256: string;
}

/**
 * What a command prints with `--json`, unchangeable.
 */
export type Printed<Command extends keyof JsonOutputs> = Unchangeable<JsonOutputs[Command]>;
type Unchangeable<T> = unknown extends T ? T : { readonly [Member in keyof T]: Unchangeable<T[Member]> };
