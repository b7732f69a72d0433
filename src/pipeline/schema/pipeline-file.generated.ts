// Generated from schemas/pipeline.schema.json by `npm run generate`. Do not edit.

/** The words in which gateways of one family differ: a preset (`neutral` or `midjourney-proxy`), or a map of single names that replace a preset's. */
export type Names =
  | string
  | {
      /** The set of names that the others replace single names of. */
      preset?: 'neutral' | 'midjourney-proxy';
      /** First path segment of the image workflow: `img` in `/img/submit/imagine`. */
      path?: string;
      /** Path prefix of relax mode, where the file asks for it: `mj-relax` in `/mj-relax/mj/submit/imagine`. Empty: none. */
      relaxPrefix?: string;
      /** Path prefix of fast mode: `img-fast` in `/img-fast/img/submit/imagine`. */
      fastPrefix?: string;
      /** Path prefix of turbo mode: `img-turbo` in `/img-turbo/img/submit/imagine`. */
      turboPrefix?: string;
      /** First path segment of the native text endpoint: `v1beta` in `/v1beta/models/text-pro:generateContent`. Some gateways have it under `v1`. */
      nativePath?: string;
      /** First part of every customId: `IMG` in `IMG::JOB::upsample::1::…`. */
      customId?: string;
      /** The botType that imagine sends unless the step names one: `IMG_JOURNEY`. */
      botType?: string;
      /** The tools entry that turns search grounding on: `vendor_search`. */
      searchTool?: string;
      /** The tools entry that turns maps grounding on: `vendorMaps`. */
      mapsTool?: string;
      /** The header that the native text endpoint accepts a key in: `x-vendor-api-key`. */
      keyHeader?: string;
      /** The header that image paths read a key in: `mj-api-secret`. Empty: none. */
      imageKeyHeader?: string;
      /** The `type` of the service's error bodies: `svc_api_error`. The sandbox answers with it. */
      errorType?: string;
    };
/** A text that stands in the service's reason, in capitals or not, or a `/pattern/` that is found in its first 256 characters. */
export type Reason = string;
/** A number per submission, or `{ input, output }` per million tokens of a text model. */
export type Price =
  | number
  | {
      /** Per million prompt tokens. */
      input: number;
      /** Per million generated tokens, thinking included. */
      output: number;
    };
/** A list of values, or a range of numbers: `{ from: 1, to: 4 }`. Templates use it by its name. */
export type Axis =
  | {
      [k: string]: unknown;
    }[]
  | {
      /** The first number. */
      from: number;
      /** The last number, at most; it is not smaller than `from`. */
      to: number;
      /** The distance between two numbers, above 0. */
      step?: number;
    };
/** One operation. Exactly one of the keys imagine, click, blend, describe, shorten, video, edit, generate and chat says which. */
export type Step =
  | ImagineStep
  | ClickStep
  | BlendStep
  | DescribeStep
  | ShortenStep
  | VideoStep
  | EditStep
  | GenerateStep
  | ChatStep
  | BestStep;
/** The text to send, a Liquid template: `{{ animal }} at dusk --v 6.1`. */
export type Prompt = string;
/** Which bot draws, in the service's words. Default: the ordinary one of `service.names`. */
export type BotType = string;
/** A file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`. */
export type Image = string;
/** Images that the prompt goes with: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. With `gather`, the gathered images unless this names others. */
export type Images = Image[];
/** The step that this one continues, one job per branch: `grid` is the step's own operation, `grid/U1` one branch of its path, `grid/*` each job one level below, `grid/**` every leaf. `grid/#2` is an output of it: frame 2 of a grid that is cut, else output 2; `grid/#*` each of them, `grid/#{{ … }}` the one that a template numbers. */
export type From = string;
/** Like `from`, but one job per cell with all the branches' results as its images, for example for a judge that sees all four. `{ step: score, over: [seed] }` gathers over axes: one job for each group of cells that agree in all other axes. */
export type Gather =
  | string
  | {
      /** What is gathered, as in `from`: a step, or branches of its path. */
      step: string;
      over: Over;
      /** `ignore` leaves failed and blocked jobs out, like skipped ones. Without it they block the job that gathers them. */
      failed?: 'ignore';
    };
/**
 * The axes whose cells are taken together: variables of the matrix, columns of its table, `repeat`; `all` for all of them.
 *
 * @minItems 1
 */
export type Over = string | [string, ...string[]];
/**
 * Buttons pressed one after another on the step's result: `U1..U4 → Vary (Strong)`. `->` is the same as `→`; `U1..U4` and `U1,U3` fan out; `U*` presses all that match; `A | B` is the first that is there; a `?` makes a button optional. `#1..#4` are outputs, such as the frames of a grid that is cut: below `#2`, `U` presses U2. A list has one selector, or one `button` mapping, per item.
 *
 * @minItems 1
 */
export type Path = string | [PathSegment, ...PathSegment[]];
/** A selector, or a mapping where the button opens a modal. */
export type PathSegment =
  | string
  | {
      button: Selector;
      prompt?: ModalPrompt;
      mask?: Mask;
      remix?: Remix;
    };
/** Which button: its label (`U1`, `Vary (Strong)`), its emoji, a pattern for its customId (`/upsample::2::/`), or one of the words for those without a label: reroll, pan left, pan right, pan up, pan down, and prompt 1 to prompt 4 (what a describe suggests). */
export type Selector = string;
/** Text for the window that the button opens, a template: for Vary (Region) what replaces the masked part, for Custom Zoom the prompt with `--zoom 1.5` (1 to 2). */
export type ModalPrompt = string;
/** Which part is repainted: white is repainted, black is kept. A PNG file relative to the pipeline, `{ file: masks/neck.png, invert: true }`, or `{ shapes: [{ ellipse: [0.3, 0.1, 0.4, 0.5] }] }` in fractions of the image, drawn in its size. A file must have the size of the image. Turned into what the endpoint takes. */
export type Mask =
  | string
  | {
      /** A PNG relative to the pipeline, a template: white is repainted, black is kept. */
      file?: string;
      /**
       * What is repainted: all of these together.
       *
       * @minItems 1
       */
      shapes?: [MaskShape, ...MaskShape[]];
      /** true: what would be repainted is kept, and the rest repainted. */
      invert?: boolean;
    };
/**
 * `[x, y, width, height]` from the upper left corner, each from 0 to 1 of the image. A template that yields such a list is possible.
 *
 * @minItems 4
 */
export type MaskBox = [number | string, number | string, number | string, number | string] | string;
/**
 * The box that it fills: `[x, y, width, height]` from the upper left corner, each from 0 to 1 of the image. A template that yields such a list is possible.
 *
 * @minItems 4
 */
export type MaskBox1 = [number | string, number | string, number | string, number | string] | string;
/** true: send enableRemix with the click, so that a button that varies, rerolls, pans or animates opens its window for `prompt`; without one the nearest prompt above answers it, below a button of a describe what that suggested. Vary (Region) sends it by itself. */
export type Remix = boolean;
/** A list, as one `{{ … }}`: one branch `[1]`, `[2]`, … for each item. The step's templates, and those of all that follows from it, read `item` and `item_index` (from 1). Items that are equal are one job, an edited item is one new job, a new order is none. */
export type Each = string;
/** Most items of `each` that become branches; the row of the list warns of more. The `max` of steps that follow from each other multiply, to 1,000 at most. */
export type Max = number;
/** A Liquid condition, as inside `{% if … %}`. Where it is false, this step and all that follows from it are skipped. */
export type When = string;
/** false: do not download what this step makes. One slot that wants a file is enough to keep it. */
export type Keep = boolean;
/** split: each grid of four that this step and its path make is cut into its frames once it is downloaded. The frames are PNG files and rows of the manifest of their own, outputs 2 to 5 in the order U1 to U4; the grid stays output 1. Nothing is paid or downloaded for it, also where the step is finished already. What is no grid (its task offers no U1 to U4) stays whole. */
export type Grid = 'split';
/** true: read the seed of each grid of four that this step and its path make, where the gateway tells seeds, into the column seed of the manifest. One more request for each grid, in the share of polls; nothing is paid for it, also where the step is finished already. */
export type Seed = boolean;
/**
 * What is blended, 2 to 5 images: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. With `gather`, the gathered images unless this names others.
 *
 * @minItems 1
 */
export type Images1 =
  | [Image]
  | [Image, Image]
  | [Image, Image, Image]
  | [Image, Image, Image, Image]
  | [Image, Image, Image, Image, Image];
/** What the model is shown, before the text of the prompt: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. PNG, JPEG, WebP, GIF, AVIF or HEIC of at most 20 MiB each. With `gather`, the gathered images unless this names others. */
export type Images2 = Image[];
/** What the model is shown, before the text of the prompt: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. PNG, JPEG, WebP, GIF, AVIF or HEIC of at most 20 MiB each. With `gather`, the gathered images unless this names others. */
export type Images3 = Image[];

/** A promptpress pipeline: which prompts to try (the matrix), which buttons to press on each result (a path), which texts to generate beside them. */
export interface PipelineFile {
  /** Names the run directory: `runs/<name>` beside this file. Letters, digits, dots, hyphens and underscores; at most 100. */
  name: string;
  /** What this pipeline is for, in a sentence. Shown in plans and reports; changes no job. */
  description?: string;
  service?: Service;
  limits?: Limits;
  retry?: Retry;
  timeouts?: Timeouts;
  poll?: Poll;
  budget?: Budget;
  prices?: Prices;
  models?: Models;
  /** Which whole replies of text calls are kept in `replies/` of the run directory, with ratings, citations and thoughts: `all`, `failed` (only those that are no usable result) or `none`. The texts themselves are kept in any case. Changes no job. */
  keepReplies?: 'all' | 'failed' | 'none';
  failures?: Failures;
  matrix?: Matrix;
  /** The operations of this pipeline by name. Each step carries exactly one kind key: imagine, click, blend, describe, shorten, video, edit, generate or chat. The order is the manifest's order. */
  steps: {
    [k: string]: Step;
  };
}
/** The gateway that carries out the work. `${VAR}` and `${VAR:-default}` read the environment, in this block only: PROMPTPRESS_BASE_URL and variables whose names begin with PROMPTPRESS_VAR_. */
export interface Service {
  /** Where the gateway is, for example `https://gateway.example.com`: without /v1, /v1beta or the image path behind it. The key is sent to an address written here once its user has trusted it. */
  baseUrl?: string;
  /** The name of an environment variable that holds the key, as `${VAR}`; any name. A literal key is refused: a pipeline is checked into git. */
  apiKey?: string;
  /** Part of every job's identity, so that results of one service are not taken for another's. Default: the base address's origin. Give it when one service has several addresses. */
  id?: string;
  /** Speed of image tasks: relax is cheapest, turbo fastest. Default: relax; with the names of the family, what the gateway does by itself. Not part of a job's identity. */
  speed?: 'relax' | 'fast' | 'turbo';
  /** How the key is sent. `bearer`: as `Authorization: Bearer`, on image paths in the header `names.imageKeyHeader` too; `header`: for `generate` in the header `names.keyHeader` alone, on image paths in `names.imageKeyHeader` alone; `raw`: on image paths as `Authorization` without Bearer; `none`: not at all on image paths, and no key is asked for. Chat and models always use `bearer`. Not part of a job's identity. */
  auth?: 'bearer' | 'header' | 'raw' | 'none';
  /** How buttons are pressed: `action`: by the customIds that a task shows; `change`: U1 to U4, V1 to V4 and reroll by `submit/change`, all else by customIds; `auto`: by `change` where a gateway shows no buttons at all. Not part of a job's identity. */
  clicks?: 'auto' | 'action' | 'change';
  /** true: image submissions carry the job's key in `state`, which gateways of this family keep with the task and show, so that a task can be found again by its job. false for a service that refuses the field. Not part of a job's identity. */
  tag?: boolean;
  names?: Names;
}
/** How much may be under way at once, and how fast. Rates are upper bounds: refusals of the service (429) lower them further for a while. */
export interface Limits {
  /** Image tasks that are submitted and not finished, at most. */
  tasks?: number;
  /** HTTP requests under way at once, at most. */
  requests?: number;
  /** Image submissions, for example `60/min`. Without it, no bound but the service's. */
  submit?: string;
  /** Task look-ups, for example `10/s`. Without it, those of unfinished tasks are repeated 100 times a second at most. */
  poll?: string;
  /** Artifact downloads, for example `20/s`. Without it, no bound but the service's. */
  download?: string;
  /** Calls of generate and chat, for example `120/min`. Without it, no bound but the service's. */
  text?: string;
  /** Tokens of text calls, for example `200000/min`. Without it, no bound but the service's. */
  tokens?: string;
}
/** What is tried again, how often and how soon. Waits double from `base` up to `cap`, with jitter. */
export interface Retry {
  /** HTTP tries of one request, the first included. */
  attempts?: number;
  /** The wait before the second try. */
  base?: string;
  /** No wait between two tries is longer. */
  cap?: string;
  /** New submissions after a task failed for a reason that may pass. Each one costs a generation. */
  resubmits?: number;
  /** What an image submission does on 408, 500, 502, 504, 520 to 524: `retry` is the service's own advice, and in doubt only when all tries are used up; with `hold` the job is in doubt at once. Where the file itself says `retry`, what a gateway reports of a broken connection behind it (`do_request_failed`) is tried again too, although some keep the charge; else such a job is in doubt. What is in doubt is not submitted again without your word. The answer to a button's dialog is held either way: it is looked for, and not sent again. */
  ambiguous?: 'retry' | 'hold';
  /** A route that has only refused (429) for this long stops the run. No Retry-After is waited for longer than this, nor longer than an hour. */
  patience?: string;
  /** New calls after a text answer that came and could not be used: JSON that is none or is not what its schema says, or nothing at all. Each one costs tokens. */
  invalid?: number;
  /** Reasons of failed tasks that no new submission would change, besides those that are known: texts that stand in the reason, in capitals or not, or `/patterns/`. They go before `transient`, and both before what is known. */
  permanent?: Reason[];
  /** Reasons of failed tasks that may pass, so that a new submission is made (`resubmits`), besides those that are known: texts that stand in the reason, in capitals or not, or `/patterns/`. */
  transient?: Reason[];
  /** What a service says when the money of the account or of the key is used up, besides what is known: texts that stand in the words of a refusal, in capitals or not, or its code or type. The run stops with `service.quota`, and no row fails for it. */
  quota?: string[];
}
/** How long one thing may take. */
export interface Timeouts {
  /** One HTTP request of the image workflow without any answer. */
  request?: string;
  /** One image task from the first sign of work to its end. Its task id is kept, and later runs look at it again first. */
  task?: string;
  /** One image task in the queue of the service, before the first sign of work. */
  queue?: string;
  /** One call of generate or chat, from connecting to the last byte. */
  text?: string;
  /** Of an answer that comes as a stream: until its first byte. */
  firstByte?: string;
  /** Of a text answer that has begun: the longest silence. */
  idle?: string;
}
/** Bounds of the polling interval, which adapts to how long tasks of each kind take, and to their progress. */
export interface Poll {
  /** Between two looks at one task, at least. */
  min?: string;
  /** Between two looks at one task, at most. */
  max?: string;
  /** true: look at many tasks with one request, where the gateway offers that (`/task/list-by-condition`). Fewer requests for large runs. */
  list?: boolean;
}
/** What this run directory may use in its lifetime; a run that reaches it stops and can be continued with a larger one. Without it there is no bound. */
export interface Budget {
  /** Image submissions, every attempt counted. */
  submits?: number;
  /** Tokens of all text calls. */
  tokens?: number;
  /** Sum of `prices`, in their unit, so everything that runs needs one; also of submissions that nobody answered, which may have been paid. */
  cost?: number;
  /** A run that is estimated to cost more than this asks first, in the unit of `prices`; everything that runs needs one. `--yes` says yes; without a terminal and without `--yes` the run is refused (exit 2) before anything is submitted. */
  ask?: number;
}
/** What things cost, in any one unit: by step kind (`imagine`), by button label, `*` for any characters (`U*` is `Upscale (Subtle)` too), or by text model. Of several that fit, one without `*` counts, else the one that says most. What has no price has an unknown cost, not 0; with a `budget.cost` that is an error. */
export interface Prices {
  [k: string]: Price;
}
/** What promptpress cannot know of a text model: how it takes its thinking parameter. */
export interface Models {
  /** One model, by its id. */
  [k: string]: {
    /** `level`: thinkingLevel (newer models); `budget`: thinkingBudget (earlier ones); `none`: neither. */
    thinking: 'level' | 'budget' | 'none';
  };
}
/** Which failures are expected. Changes no job. */
export interface Failures {
  /**
   * Error codes (column `error_code`) that are expected, such as prompts that the service refuses for their content. Such a row, and what it blocks, stays failed or blocked with `accepted` = true: it is counted apart, a run with no other failure exits with 0, and `--max-failures` and `--fail-fast` ignore it. `--retry-failed` tries it again.
   *
   * Items: Words with dots between them, as in the column `error_code`.
   */
  accept?: string[];
}
/** Axes that multiply in written order, the first slowest; each combination is one cell. Then `exclude`, `include`, `sample` and `repeat`, in this order. Without a matrix there is one cell. */
export interface Matrix {
  /** A table file, relative to the pipeline: .csv, .tsv, .jsonl (.ndjson), .json or .yaml. Each row is one value of this axis, and its columns become variables. Or `{ files: images/*.png }`: each file is a row. */
  rows?:
    | string
    | {
        /** Files as rows, sorted by name: `*` is any part of a name, `**` any folders, `{png,jpg}` one of these; endings match in any case. Relative to the pipeline. The variables are `file` (the path, for `image: "{{ file }}"`) and `name` (without folder and ending). */
        files: string;
      };
  /** Cells to leave out: each entry removes the cells that agree with all its values. Objects match partially. An entry that can match nothing is an error. */
  exclude?: PartialCell[];
  /** Each entry extends the original cells that it does not contradict; where there are none, it adds a cell. */
  include?: PartialCell[];
  /** Draws this many cells without replacement. More than there are takes all. */
  sample?: {
    /** How many cells to draw. */
    count: number;
    /** The same seed draws the same cells. */
    seed?: number;
  };
  /** How often each cell is carried out. It is part of a job's identity, and `{{ repeat }}` in templates. */
  repeat?: number;
  [k: string]:
    | Axis
    | string
    | {
        /** Files as rows, sorted by name: `*` is any part of a name, `**` any folders, `{png,jpg}` one of these; endings match in any case. Relative to the pipeline. The variables are `file` (the path, for `image: "{{ file }}"`) and `name` (without folder and ending). */
        files: string;
      }
    | PartialCell[]
    | {
        /** How many cells to draw. */
        count: number;
        /** The same seed draws the same cells. */
        seed?: number;
      }
    | number
    | undefined;
}
/** Variables and the values they have. Values compare as they render: 1 is "1". */
export interface PartialCell {
  /** A value of this variable; an object may name only some members. */
  [k: string]: {
    [k: string]: unknown;
  };
}
/** Text to image: a grid of four. */
export interface ImagineStep {
  /** The prompt, or a mapping with `prompt` and the other fields of the request. */
  imagine:
    | string
    | {
        prompt: Prompt;
        botType?: BotType;
        /** Which accounts of the service may draw it, for example `{ modes: [FAST] }`. Gateways may ignore it; `service.speed` is the reliable way to a speed. */
        accountFilter?: {
          /** Speeds in order of preference, in the service's words. */
          modes?: string[];
          [k: string]: unknown;
        };
        images?: Images;
      };
  from?: From;
  gather?: Gather;
  path?: Path;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  seed?: Seed;
  extra?: Extra;
}
/** A rectangle, or the ellipse that fills one. */
export interface MaskShape {
  rectangle?: MaskBox;
  ellipse?: MaskBox1;
}
/** An object merged into the request body, for fields of the service that have no key here. Its texts are templates. */
export interface Extra {
  [k: string]: unknown;
}
/** Presses a button of the step that `from` names. A path is short for such steps. */
export interface ClickStep {
  /** Which button: its label (`U1`, `Vary (Strong)`), its emoji, a pattern for its customId (`/upsample::2::/`), or one of the words for those without a label: reroll, pan left, pan right, pan up, pan down, and prompt 1 to prompt 4 (what a describe suggests). */
  click: string;
  prompt?: ModalPrompt;
  mask?: Mask;
  remix?: Remix;
  from: From;
  path?: Path;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  seed?: Seed;
  extra?: Extra;
}
/** Blends 2 to 5 images into one. */
export interface BlendStep {
  /** The images to blend. With `gather`, the gathered images unless `images` names others. */
  blend: {
    images?: Images1;
    /** Shape of the result: portrait (2:3), square (1:1) or landscape (3:2). A template is possible. */
    dimensions?: string;
    botType?: BotType;
  };
  from?: From;
  gather?: Gather;
  path?: Path;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  seed?: Seed;
  extra?: Extra;
}
/** Suggests four prompts for an image: later steps read them as `steps.<name>.prompts`, and its buttons (prompt 1 to prompt 4, reroll) draw them. */
export interface DescribeStep {
  /** The image to describe. */
  describe: {
    image: Image;
    /** Of the suggested prompts, in the service's words. A template is possible. */
    language?: string;
    botType?: BotType;
  };
  from?: From;
  path?: Path;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/** Suggests up to five shorter prompts for a prompt: later steps read them as `steps.<name>.prompts`, and its buttons (prompt 1 to prompt 4) draw them. */
export interface ShortenStep {
  /** The prompt, or a mapping with `prompt` and `botType`. */
  shorten:
    | string
    | {
        prompt: Prompt;
        botType?: BotType;
      };
  from?: From;
  path?: Path;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/** Image to video, or a longer one of a video. */
export interface VideoStep {
  /** The first frame and how it moves: `{ image, motion }`. Or `{ extend: 1 }` with `from:` a video step: its first video goes on. */
  video: {
    /** A file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`. */
    image?: string;
    /** Which video of the step that `from` names goes on, counted from 1 as its buttons are. A template is possible. */
    extend?: number | string;
    prompt?: Prompt;
    /** How much moves: low or high. A template is possible. */
    motion?: string;
    /** A file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`. */
    endImage?: string;
    /** The last frame leads back to the first. A template such as `{{ loop }}` is possible. */
    loop?: boolean | string;
    /** How many videos: 1, 2 or 4. A template such as `{{ size }}` is possible. */
    batchSize?: number | string;
    /** Model and size, in the service's words. */
    videoType?: string;
    /** manual: as `prompt` says; auto: the service finds the prompt. A template is possible. */
    animateMode?: string;
    botType?: BotType;
  };
  from?: From;
  path?: Path;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/** Edits an image with a mask. */
export interface EditStep {
  /** The image, its mask, and what to draw. */
  edit: {
    image: Image;
    mask?: Mask;
    prompt: Prompt;
    botType?: BotType;
  };
  from?: From;
  path?: Path;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  seed?: Seed;
  extra?: Extra;
}
/** Native text generation, with images, thinking, search, JSON and image output. */
export interface GenerateStep {
  /** The request: every native field by its native name, and short forms of the common ones. */
  generate: {
    /** A model id from the service's list (`promptpress models`), a template. */
    model: string;
    prompt?: Prompt;
    images?: Images2;
    /** Instructions for the whole conversation, a template. Short for `systemInstruction`. */
    system?: string;
    /** A level (minimal, low, medium, high) for newer models, or a budget in tokens for earlier ones (0: off, -1: as the model likes). Short for `generationConfig.thinkingConfig`. Which one a model takes can be said under `models`. */
    thinking?: string | number;
    /** The answer is JSON of this schema (JSON Schema or the native subset), and is checked against it: templates of later steps read it as `steps.<name>.json`. Short for `generationConfig.responseSchema` with `responseMimeType: application/json`. */
    responseSchema?: {
      [k: string]: unknown;
    };
    /** true: web search grounding. Short for the search entry of `tools`. */
    search?: boolean;
    /** true: maps grounding. Short for the maps entry of `tools`. */
    maps?: boolean;
    /** The earlier generate step whose turns come before this one: its own request and answer, and what it continued. Goes with `prompt`, not with `contents`. */
    continue?: string;
    /** true: the answer comes as a stream, which keeps long answers from running into time-outs of the way. Not part of a job's identity. */
    stream?: boolean;
    /**
     * Conversation history and current input, native: items with `role` and `parts`.
     *
     * @minItems 1
     *
     * Items: One turn: `{ role: user, parts: [{ text: … }] }`.
     */
    contents?: [
      {
        [k: string]: unknown;
      },
      ...{
        [k: string]: unknown;
      }[]
    ];
    /** Instructions for the whole conversation, native: `{ parts: [{ text: … }] }`. */
    systemInstruction?: {
      [k: string]: unknown;
    };
    /**
     * Function declarations, search grounding, maps grounding, code execution; native.
     *
     * Items: One native tools entry.
     */
    tools?: {
      [k: string]: unknown;
    }[];
    /** How tools are used, such as the function-calling mode; native. */
    toolConfig?: {
      [k: string]: unknown;
    };
    /**
     * Thresholds per harm category; native.
     *
     * Items: `{ category: …, threshold: … }`.
     */
    safetySettings?: {
      [k: string]: unknown;
    }[];
    /** temperature, maxOutputTokens, responseModalities and all else; native. Members not listed here are sent as they are. */
    generationConfig?: {
      /** Randomness, from 0 to 2. A template is possible. */
      temperature?: number | string;
      /** Nucleus sampling, from 0 to 1. A template is possible. */
      topP?: number | string;
      /** How many of the likeliest tokens are considered. A template is possible. */
      topK?: number | string;
      /** The most tokens of an answer, thinking included. A template is possible. */
      maxOutputTokens?: number | string;
      /** What the answer is made of: `[TEXT, IMAGE]` makes images too. */
      responseModalities?: string[] | string;
      /** `thinkingLevel` for newer models, `thinkingBudget` for earlier ones. */
      thinkingConfig?: {
        /** Of newer models: MINIMAL, LOW, MEDIUM or HIGH. */
        thinkingLevel?: string;
        /** Of earlier models: tokens; 0 is off, -1 as the model likes. A template is possible. */
        thinkingBudget?: number | string;
        /** true: summaries of what the model thought come with the answer. They are no part of its text. */
        includeThoughts?: boolean | string;
        [k: string]: unknown;
      };
      /** `application/json` forces JSON. */
      responseMimeType?: string;
      /** The schema that a JSON answer keeps to, and is checked against; needs `responseMimeType: application/json`. */
      responseSchema?: {
        [k: string]: unknown;
      };
      /** How many answers to make; each one is an output of the job. A template is possible. */
      candidateCount?: number | string;
      /** Seed of the sampling. A template is possible. */
      seed?: number | string;
      /** Texts that end the answer where they would appear. */
      stopSequences?: string[] | string;
      /** Shape and size of images that the model makes: `{ aspectRatio: "16:9", imageSize: 2K }`. */
      imageConfig?: {
        [k: string]: unknown;
      };
      /** The same as JSON Schema. */
      responseJsonSchema?: {
        [k: string]: unknown;
      };
      [k: string]: unknown;
    };
    /** Name of cached content used as context: `cachedContents/<id>`. */
    cachedContent?: string;
    /** Functions that the model may call, each with the answer it always gets, so that the conversation goes on by itself. Short for a `functionDeclarations` tool. */
    functions?: {
      /** A native function declaration without its name, and its `answer`. */
      [k: string]: {
        /** What it does: the model chooses by it. */
        description?: string;
        /** Schema of its arguments; native. */
        parameters?: {
          [k: string]: unknown;
        };
        /** What every call of it is answered with: an object, or a text that becomes `{ result: … }`. */
        answer:
          | {
              [k: string]: unknown;
            }
          | string
          | number
          | boolean
          | unknown[];
        [k: string]: unknown;
      };
    };
    /** How often the model may call `functions` before it must have answered; each round is a call of the service. */
    rounds?: number;
    /** true: the model may run code. Short for a `codeExecution` tool. */
    code?: boolean;
    /** How JSON that was asked for is read. `lenient`: also behind thinking, among sentences, with trailing commas or raw control characters; the text stays as it was sent. `strict`: only where the answer is JSON, alone or in one code fence. Not part of a job's identity. */
    reply?: 'lenient' | 'strict';
    /**
     * Finish reasons whose text is a result all the same, for example `[MAX_TOKENS]`. Not part of a job's identity.
     *
     * Items: A finish reason as the service writes it; no template.
     */
    accept?: string[];
  };
  from?: From;
  gather?: Gather;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/** The OpenAI-compatible chat endpoint. */
export interface ChatStep {
  /** `{ model, messages }`, or `{ model, prompt, system, images }`. */
  chat: {
    /** A model id from the service's list (`promptpress models`), a template. */
    model: string;
    /**
     * The conversation: items with `role` and `content`.
     *
     * @minItems 1
     *
     * Items: `{ role: user, content: … }`.
     */
    messages?: [
      {
        /** Who speaks. */
        role: string;
        /** Text, or a list of parts. */
        content:
          | string
          | {
              [k: string]: unknown;
            }[];
        [k: string]: unknown;
      },
      ...{
        /** Who speaks. */
        role: string;
        /** Text, or a list of parts. */
        content:
          | string
          | {
              [k: string]: unknown;
            }[];
        [k: string]: unknown;
      }[]
    ];
    prompt?: Prompt;
    /** The system message, a template. Goes with `prompt`. */
    system?: string;
    images?: Images3;
    /** true: the answer comes as a stream, which keeps long answers from running into time-outs of the way. Not part of a job's identity. */
    stream?: boolean;
    /** How JSON that was asked for is read. `lenient`: also behind thinking, among sentences, with trailing commas or raw control characters; the text stays as it was sent. `strict`: only where the answer is JSON, alone or in one code fence. Not part of a job's identity. */
    reply?: 'lenient' | 'strict';
    /**
     * Finish reasons whose text is a result all the same, for example `[length]`. Not part of a job's identity.
     *
     * Items: A finish reason as the service writes it; no template.
     */
    accept?: string[];
    /** Randomness, from 0 to 2. A template is possible. */
    temperature?: number | string;
    /** Native: `{ type: json_object }`, or `{ type: json_schema, json_schema: { name: …, schema: … } }`. */
    response_format?: {
      [k: string]: unknown;
    };
    /** The most tokens of an answer. A template is possible. */
    max_tokens?: number | string;
  };
  from?: From;
  gather?: Gather;
  each?: Each;
  max?: Max;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/** Picks the best of several jobs or outputs by a number, with no job of its own: other steps go on from it (`from: best`, or `from: best/1` for the first). */
export interface BestStep {
  /** What is picked from, by which number, and how many: `{ from: "grid/#*", by: "{{ steps.score.json.value }}", top: 2, over: [seed] }`. */
  best: {
    from: From;
    /** A template whose text is a number, read at each of them: results of that step, or of a step that follows from it (`from`). The largest number is the best; of equal ones, the first in the order of the manifest. */
    by: string;
    /** How many are picked, as branches `1`, `2`, …; where there are fewer, the last branches are skipped. */
    top?: number;
    over?: Over;
    /** `ignore` leaves out what failed or has no number, like what is skipped. Without it, one that failed blocks all that follows. */
    failed?: 'ignore';
  };
}
