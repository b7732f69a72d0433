import type { Position } from './diagnostics/diagnostic.ts';
import type { StepKind } from './kinds.ts';
import type { Condition, Template, TemplateTree } from './templates/template.ts';
import type { Value } from './values/value.ts';

export type { StepKind };

export type Speed = 'relax' | 'fast' | 'turbo';

/** A rate, normalised: `60/min` is 60 per 60,000 ms. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/**
 * The words in which gateways of one family differ (gateway 1.2). A pipeline names a preset or gives
 * its own map; the service client turns it into addresses, headers and bodies.
 */
export interface NamesSetting {
  readonly preset: 'neutral' | 'midjourney-proxy';
  /** Single names that replace the preset's. */
  readonly own: Readonly<Record<string, string>>;
}

/**
 * The `service` block. Texts are as written, with `${VAR}` unresolved: the environment is read by the command
 * that runs, never by validation.
 */
export interface ServiceBlock {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Part of every job key; by default the base address's origin. */
  readonly id?: string;
  /** Absent: the speed that the gateway has by itself. */
  readonly speed?: Speed;
  /** How requests are given the key (gateway 1.4). */
  readonly auth: 'bearer' | 'header' | 'raw' | 'none';
  /** How buttons are pressed: by their customIds, or those of a grid by `submit/change` (gateway 2.4). */
  readonly clicks: 'auto' | 'action' | 'change';
  /**
   * Image submissions carry the job's key in `state`, which the task echoes (gateway 2.2: at most 255 characters). The
   * state shows which job a task belongs to. It is no part of a job's identity.
   */
  readonly tag: boolean;
  readonly names: NamesSetting;
}

export interface Limits {
  /** Image tasks in flight on the service. */
  readonly tasks: number;
  /** HTTP requests in flight. */
  readonly requests: number;
  readonly submit?: Rate;
  readonly poll?: Rate;
  readonly download?: Rate;
  readonly text?: Rate;
  readonly tokens?: Rate;
}

/** One way to know a failed task's reason again (see `reasonMatches`). */
export type ReasonMatch =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string };

/** Durations in milliseconds. */
export interface RetrySettings {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  readonly resubmits: number;
  readonly ambiguous: 'retry' | 'hold';
  /** The file itself says `ambiguous: retry`: so is met what a gateway reports of a broken connection behind it. */
  readonly retriesAmbiguous?: true;
  readonly patienceMs: number;
  /** New calls after a text reply that could not be used. */
  readonly invalid: number;
  /** Reasons of failed tasks that no new submission would change; looked through before `transient` and what is known. */
  readonly permanent: readonly ReasonMatch[];
  /** Reasons of failed tasks that may pass; looked through before what is known. */
  readonly transient: readonly ReasonMatch[];
  /** Words, codes and types of refusals that say that the quota is used up, beside those that are known. */
  readonly quota?: readonly string[];
}

/** Milliseconds. */
export interface Timeouts {
  /** One request of the image workflow, from connecting to the last byte. */
  readonly requestMs: number;
  /** An image task, from the first sign of work to its end. */
  readonly taskMs: number;
  /** The same before that, in the queue of the service. */
  readonly queueMs: number;
  /** A text call, from connecting to the last byte. */
  readonly textMs: number;
  /** Of a stream: until its first byte. */
  readonly firstByteMs: number;
  /** Of a text reply: the longest silence once it has begun. */
  readonly idleMs: number;
}

/** How a text model takes its thinking parameter (gateway 6.3). */
export type Thinking = 'level' | 'budget' | 'none';

/** Which whole replies of text calls are kept; `failed`: those that are no usable result. */
export type KeepReplies = 'all' | 'failed' | 'none';

export interface Budget {
  readonly submits?: number;
  readonly tokens?: number;
  readonly cost?: number;
  /** A run that is estimated to cost more asks first. */
  readonly ask?: number;
}

/** Currency units per submission, or per million tokens for a text model. */
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
      /** The path as the pipeline gives it. */
      readonly declared: string;
      /** Absolute path of the table; of `files` the listing that `FilePort.list` takes. */
      readonly file: string;
      /** `files`: a folder's files are the rows. */
      readonly format: 'csv' | 'tsv' | 'jsonl' | 'json' | 'yaml' | 'files';
      /** Known at validation: the header of a CSV or TSV file, the keys of the first JSONL, JSON or YAML row, `file` and `name`. */
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
  /** In written order, first slowest. Empty: one cell. */
  readonly axes: readonly Axis[];
  readonly exclude: readonly PartialCell[];
  readonly include: readonly PartialCell[];
  readonly sample?: { readonly count: number; readonly seed: number };
  /** At least 1. */
  readonly repeat: number;
  /** Every variable of the matrix in order: axis names, columns of `rows` at its place, names only an include has. */
  readonly variables: readonly string[];
}

/** Words for buttons that carry no label (gateway 5). `prompt 1` is the first of a describe's suggestions. */
export type ButtonWord =
  | 'reroll'
  | `pan ${'left' | 'right' | 'up' | 'down'}`
  | `prompt ${'1' | '2' | '3' | '4'}`;

/** One way to find a button on a task. */
export type ButtonMatch =
  | { readonly kind: 'text'; readonly text: Template }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord }
  | { readonly kind: 'wildcard'; readonly source: string };

/** What one branch presses: the first of its alternatives that the task offers. */
export interface Selector {
  readonly alternatives: readonly ButtonMatch[];
  readonly optional: boolean;
  /** The branch segment: what the file says, spaces normalised, without quotes and without `?`. */
  readonly name: string;
  readonly position: Position;
}

/**
 * What part of an image is repainted, as `maskOf` reads it from a `mask` field. White is repainted everywhere in the
 * language, whatever an endpoint wants (gateway 2.7); `invert` turns that round.
 */
export type MaskSpec =
  /** A PNG, by its path relative to the pipeline. */
  | { readonly file: Template; readonly invert: boolean }
  /** Drawn in the size of the image: all of these together. */
  | { readonly shapes: readonly MaskShapeSpec[]; readonly invert: boolean };

export type MaskShapeSpec = { readonly rectangle: MaskBoxSpec } | { readonly ellipse: MaskBoxSpec };

/** `[x, y, width, height]` in fractions of the image: four numbers or templates, or one template that yields a list. */
export type MaskBoxSpec = Template | readonly TemplateTree[];

/** One stage of a path; several selectors fan out (`U1..U4`). The fields after it answer a modal. */
export interface PathSegment {
  readonly selectors: readonly Selector[];
  readonly prompt?: Template;
  /** As declared; `maskOf` reads it. */
  readonly mask?: TemplateTree;
  readonly remix?: boolean;
  readonly position: Position;
}

/** Which jobs of another step a step starts from: `grid`, `grid/U1`, `grid/*`, `grid/**`. */
export interface BranchAddress {
  readonly step: string;
  /** Branch segments below the step's own operation; the last may be `*` (one level) or `**` (every leaf). */
  readonly segments: readonly string[];
  readonly source: string;
  readonly position: Position;
}

/** A step of the pipeline, checked. */
export interface Step {
  readonly name: string;
  readonly kind: StepKind;
  /** One job per branch of it; a step has at most one of `from` and `gather`. */
  readonly from?: BranchAddress;
  /** One job per cell with all of them as inputs. */
  readonly gather?: BranchAddress;
  /** The declared fields of the operation by their pipeline names; `imagine: "text"` is `{ prompt: "text" }`. */
  readonly request: Readonly<Record<string, TemplateTree>>;
  /** `click` only: what to press. A `click` selector may not fan out except by wildcard. */
  readonly selector?: Selector;
  readonly path: readonly PathSegment[];
  readonly when?: Condition;
  readonly keep: boolean;
  /** The grids that it and its path make are cut into their frames (`grid: split`). */
  readonly split?: true;
  /** Merged into the request body. */
  readonly extra?: Readonly<Record<string, TemplateTree>>;
  readonly position: Position;
  /** Names of the steps that must be known before this one: `from`, `gather`, and templates that name a step. */
  readonly after: readonly string[];
}

/** A valid pipeline: the only input that planning accepts. */
export interface Pipeline {
  readonly name: string;
  readonly description?: string;
  /** The file as the user gave it, its absolute folder, its text (kept in the state), and the axes that the user has replaced. */
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
    /** One request polls many tasks, where the gateway offers that (gateway 4.1, `list-by-condition`). */
    readonly list: boolean;
  };
  readonly budget: Budget;
  readonly prices: Readonly<Record<string, Price>>;
  /** What is said about text models that promptpress does not know, by id. */
  readonly models: Readonly<Record<string, { readonly thinking: Thinking }>>;
  readonly keepReplies: KeepReplies;
  readonly matrix: MatrixSpec;
  /** In file order, which is the manifest's order. */
  readonly steps: readonly Step[];
}
