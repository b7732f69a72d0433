import type { Position } from './diagnostics/diagnostic.ts';
import type { StepKind } from './kinds.ts';
import type { Condition, Template, TemplateTree } from './templates/template.ts';
import type { Value } from './values/value.ts';

export type { StepKind };

export type Speed = 'relax' | 'fast' | 'turbo';

/** A normalised rate: `60/min` is 60 per 60,000 ms. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/**
 * Names in which gateways of one family differ (gateway 1.2). A pipeline chooses a preset or gives its own map; the service client makes
 * addresses, headers and bodies from it.
 */
export interface NamesSetting {
  readonly preset: 'neutral' | 'midjourney-proxy';
  /** Names that replace those of the preset. */
  readonly own: Readonly<Record<string, string>>;
}

/**
 * The `service` block. Texts are as written, with `${VAR}` unresolved: a command that runs reads the environment, validation never does.
 */
export interface ServiceBlock {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Id of the service, part of every job key; by default the origin of the base address. */
  readonly id?: string;
  /** Absent: the gateway's default speed. */
  readonly speed?: Speed;
  /** How requests send the key (gateway 1.4). */
  readonly auth: 'bearer' | 'header' | 'raw' | 'none';
  /** How buttons are pressed: by customId, or those of a grid by `submit/change` (gateway 2.4). */
  readonly clicks: 'auto' | 'action' | 'change';
  /**
   * Whether image submissions carry the job's key in `state`, which the task echoes (gateway 2.2: at most 255 characters), to show which
   * job a task belongs to. Not part of a job's identity.
   */
  readonly tag: boolean;
  readonly names: NamesSetting;
}

export interface Limits {
  /** Most image tasks in flight on the service. */
  readonly tasks: number;
  /** Most HTTP requests in flight. */
  readonly requests: number;
  readonly submit?: Rate;
  readonly poll?: Rate;
  readonly download?: Rate;
  readonly text?: Rate;
  readonly tokens?: Rate;
}

/** A rule that recognises the reason of a failed task (see `reasonMatches`). */
export type ReasonMatch =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string };

/** Retry settings; durations are in milliseconds. */
export interface RetrySettings {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  readonly resubmits: number;
  readonly ambiguous: 'retry' | 'hold';
  /** Set if the file itself says `ambiguous: retry`. Then a gateway's report of a broken connection behind it is retried too. */
  readonly retriesAmbiguous?: true;
  readonly patienceMs: number;
  /** Number of new calls after a text reply that could not be used. */
  readonly invalid: number;
  /** Reasons of failed tasks that no new submission would change; checked before `transient` and the known reasons. */
  readonly permanent: readonly ReasonMatch[];
  /** Reasons of failed tasks that may pass; checked before the known reasons. */
  readonly transient: readonly ReasonMatch[];
  /** Words, codes and types of refusals that mean an exhausted quota, in addition to the known ones. */
  readonly quota?: readonly string[];
}

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** For one request of the image workflow, from connecting to the last byte. */
  readonly requestMs: number;
  /** For an image task, from the first sign of work to its end. */
  readonly taskMs: number;
  /** For an image task before that, in the queue of the service. */
  readonly queueMs: number;
  /** For a text call, from connecting to the last byte. */
  readonly textMs: number;
  /** For a stream, until its first byte. */
  readonly firstByteMs: number;
  /** For a text reply, the longest silence once it has begun. */
  readonly idleMs: number;
}

/** How a text model takes its thinking parameter (gateway 6.3). */
export type Thinking = 'level' | 'budget' | 'none';

/** Which whole replies of text calls are kept; `failed` keeps unusable ones only. */
export type KeepReplies = 'all' | 'failed' | 'none';

export interface Budget {
  readonly submits?: number;
  readonly tokens?: number;
  readonly cost?: number;
  /** Cost estimate above which a run asks for confirmation. */
  readonly ask?: number;
}

/** Price in currency units per submission, or per million tokens of a text model. */
export type Price = number | { readonly input: number; readonly output: number };

export type Axis =
  | {
      readonly kind: 'values';
      readonly name: string;
      readonly values: readonly Value[];
      readonly position: Position;
    }
  | {
      readonly kind: 'range';
      readonly name: string;
      readonly from: number;
      readonly to: number;
      readonly step: number;
      readonly position: Position;
    }
  | {
      readonly kind: 'rows';
      /** Always `rows`. */
      readonly name: string;
      /** Path as the pipeline gives it. */
      readonly declared: string;
      /** Absolute path of the table, or for `files` the listing that `FilePort.list` takes. */
      readonly file: string;
      /** Format of the table; with `files`, the files of a folder are the rows. */
      readonly format: 'csv' | 'tsv' | 'jsonl' | 'json' | 'yaml' | 'files';
      /** Column names, known at validation: the header of CSV or TSV, the keys of the first JSONL, JSON or YAML row, `file` and `name`. */
      readonly columns: readonly string[];
      readonly position: Position;
    };

/** A partial match (`exclude`) or an extension (`include`): variable → value. */
export interface PartialCell {
  readonly values: Readonly<Record<string, Value>>;
  readonly position: Position;
}

/** An axis that the user replaces for a run directory (`--set animal=lynx`). */
export interface AxisSetting {
  readonly axis: string;
  /** As the user wrote it: one value, or a list or range in brackets as in a pipeline file. */
  readonly value: string;
}

export interface MatrixSpec {
  /** Axes in written order, the slowest first. Without axes there is one cell. */
  readonly axes: readonly Axis[];
  readonly exclude: readonly PartialCell[];
  readonly include: readonly PartialCell[];
  readonly sample?: { readonly count: number; readonly seed: number };
  /** At least 1. */
  readonly repeat: number;
  /** All variables of the matrix in order: axis names, the columns of `rows` in place of it, names that only an include has. */
  readonly variables: readonly string[];
}

/** Words for buttons without a label (gateway 5). `prompt 1` is the first suggestion of a describe. */
export type ButtonWord =
  | 'reroll'
  | `pan ${'left' | 'right' | 'up' | 'down'}`
  | `prompt ${'1' | '2' | '3' | '4'}`;

/** A rule that finds a button on a task. */
export type ButtonMatch =
  | { readonly kind: 'text'; readonly text: Template }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord }
  | { readonly kind: 'wildcard'; readonly source: string };

/** Which outputs of a job a branch stands for: one by its number, each of them, or the one whose number a template yields. */
export type OutputChoice = number | 'each' | Template;

/** The button that one branch presses: the first alternative that the task offers. */
export interface Selector {
  readonly alternatives: readonly ButtonMatch[];
  /** Set for an output (`#1`), which presses nothing and has no alternatives. A path never has `each`. */
  readonly output?: OutputChoice;
  readonly optional: boolean;
  /** Name of the branch segment: the file's text with normalised spaces, without quotes and `?`. */
  readonly name: string;
  readonly position: Position;
}

/**
 * The part of an image to repaint, as `maskOf` reads it from a `mask` field. White is repainted everywhere in the language, whatever an
 * endpoint expects (gateway 2.7); `invert` reverses that.
 */
export type MaskSpec =
  /** A PNG file, by its path relative to the pipeline. */
  | { readonly file: Template; readonly invert: boolean }
  /** Shapes that are drawn together in the size of the image. */
  | { readonly shapes: readonly MaskShapeSpec[]; readonly invert: boolean };

export type MaskShapeSpec = { readonly rectangle: MaskBoxSpec } | { readonly ellipse: MaskBoxSpec };

/** A box `[x, y, width, height]` in fractions of the image: four numbers or templates, or one template that yields a list. */
export type MaskBoxSpec = Template | readonly TemplateTree[];

/** One stage of a path; several selectors fan out (`U1..U4`). The later fields answer a modal. */
export interface PathSegment {
  readonly selectors: readonly Selector[];
  readonly prompt?: Template;
  /** The mask as declared; `maskOf` reads it. */
  readonly mask?: TemplateTree;
  readonly remix?: boolean;
  readonly position: Position;
}

/** The jobs of another step that a step starts from: `grid`, `grid/U1`, `grid/*`, `grid/**`; or their outputs: `grid/#1`, `grid/#*`. */
export interface BranchAddress {
  readonly step: string;
  /** Branch segments after the step's name; the last may be `*` (one level), `**` (every leaf) or an output. */
  readonly segments: readonly string[];
  /** What the segments stand for that name outputs, by name; absent if none does. */
  readonly outputs?: Readonly<Record<string, OutputChoice>>;
  /** While steps are checked: most jobs that are picked of those that it names, where it stands for an address of a `best`. */
  readonly picks?: number;
  readonly source: string;
  readonly position: Position;
}

/** A list whose items are branches of a step. */
export interface Each {
  /** A single output, which yields the list. */
  readonly list: Template;
  /** Largest number of items that become branches. */
  readonly max: number;
  /** Upper bound of the number of branches: `max`, or less if the schema of a reply limits the list (`maxItems`), or all lists are in the file. */
  readonly bound: number;
}

/** What a step is reduced by: its jobs are one for each group of cells that agree in all other axes. */
export interface Reduction {
  /** Variables of the matrix, and `repeat`, sorted; equal reductions have equal lists. */
  readonly axes: readonly string[];
  /** Variables that have no single value in a group: the axes, and what an include gives together with one of them. */
  readonly variables: readonly string[];
}

/** What picks the best of several jobs or outputs. */
export interface Best {
  /** Yields a number, as text, for each of them. */
  readonly by: Template;
  /** How many are picked, from 1. */
  readonly top: number;
  /** What failed ones and those without a number do: block what follows, or are left out. */
  readonly failed: 'block' | 'ignore';
  /** Set if they are picked from groups of cells. */
  readonly over?: { readonly position: Position };
}

/** A checked step of the pipeline. */
export interface Step {
  readonly name: string;
  readonly kind: StepKind;
  /** Start of the step, with one job per branch; a step has at most one of `from` and `gather`. */
  readonly from?: BranchAddress;
  /** Jobs that are gathered as inputs of one job per cell, or per group of cells with `over`. */
  readonly gather?: BranchAddress;
  /** Set if it picks from the jobs of `from`, and has none of its own: its kind is then that of these jobs. */
  readonly best?: Best;
  /** One job for each item of a list, for each branch that the step starts from. */
  readonly each?: Each;
  /** Set if `gather` is over axes. */
  readonly over?: {
    /** What failed and blocked jobs do: block the job that gathers them, or are left out. */
    readonly failed: 'block' | 'ignore';
    /** Whether the gathered jobs make images, which the step shows unless it names others. */
    readonly showsImages: boolean;
    readonly position: Position;
  };
  /** Set if its jobs are one for each group of cells: it gathers or picks over axes, or follows a step that does. */
  readonly reduced?: Reduction;
  /** The declared fields of the operation by their pipeline names; `imagine: "text"` is `{ prompt: "text" }`. */
  readonly request: Readonly<Record<string, TemplateTree>>;
  /** The button that a `click` step presses. It may not fan out, except by a wildcard. */
  readonly selector?: Selector;
  readonly path: readonly PathSegment[];
  readonly when?: Condition;
  readonly keep: boolean;
  /** Set if the grids of the step and its path are cut into frames (`grid: split`). */
  readonly split?: true;
  /** Set if the seeds of the grids of the step and its path are read (`seed: true`). */
  readonly seed?: true;
  /** Fields that are merged into the request body. */
  readonly extra?: Readonly<Record<string, TemplateTree>>;
  readonly position: Position;
  /** Names of the steps that must be known before this one: in `from`, in `gather`, or in templates. */
  readonly after: readonly string[];
}

/** A valid pipeline: the only input that planning accepts. */
export interface Pipeline {
  readonly name: string;
  readonly description?: string;
  /** The file as the user gave it, its absolute folder, its text (kept in the state), and the replaced axes. */
  readonly source: {
    readonly file: string;
    readonly folder: string;
    readonly text: string;
    readonly set?: readonly AxisSetting[];
  };
  readonly service: ServiceBlock;
  readonly limits: Limits;
  readonly retry: RetrySettings;
  readonly timeouts: Timeouts;
  readonly poll: {
    readonly minMs: number;
    readonly maxMs: number;
    /** Whether one request polls many tasks, if the gateway offers that (gateway 4.1, `list-by-condition`). */
    readonly list: boolean;
  };
  readonly budget: Budget;
  readonly prices: Readonly<Record<string, Price>>;
  /** Facts from the file about text models that promptpress does not know, by model id. */
  readonly models: Readonly<Record<string, { readonly thinking: Thinking }>>;
  readonly keepReplies: KeepReplies;
  /** Error codes of failures that are expected (`failures.accept`). */
  readonly acceptedFailures: readonly string[];
  readonly matrix: MatrixSpec;
  /** Steps in file order, which is also the manifest's order; those without jobs are {@link bests}. */
  readonly steps: readonly Step[];
  /** The steps that pick from the jobs of others. */
  readonly bests: readonly Step[];
}
