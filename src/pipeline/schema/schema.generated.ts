// Generated from schemas/pipeline.schema.json by `npm run generate`. Do not edit.

/**
 * The words in which gateways of one family differ: a preset (`neutral` or `midjourney-proxy`), or a map of single names that replace a preset's.
 */
export type Names =
  | string
  | {
      /**
       * The set of names that the others replace single names of.
       */
      preset?: 'neutral' | 'midjourney-proxy';
      /**
       * First path segment of the image workflow: `img` in `/img/submit/imagine`.
       */
      path?: string;
      /**
       * Path prefix of relax mode, where the file asks for it: `mj-relax` in `/mj-relax/mj/submit/imagine`. Empty: none.
       */
      relaxPrefix?: string;
      /**
       * Path prefix of fast mode: `img-fast` in `/img-fast/img/submit/imagine`.
       */
      fastPrefix?: string;
      /**
       * Path prefix of turbo mode: `img-turbo` in `/img-turbo/img/submit/imagine`.
       */
      turboPrefix?: string;
      /**
       * First path segment of the native text endpoint: `v1beta` in `/v1beta/models/text-pro:generateContent`. Some gateways have it under `v1`.
       */
      nativePath?: string;
      /**
       * First part of every customId: `IMG` in `IMG::JOB::upsample::1::…`.
       */
      customId?: string;
      /**
       * The botType that imagine sends unless the step names one: `IMG_JOURNEY`.
       */
      botType?: string;
      /**
       * The tools entry that turns search grounding on: `vendor_search`.
       */
      searchTool?: string;
      /**
       * The tools entry that turns maps grounding on: `vendorMaps`.
       */
      mapsTool?: string;
      /**
       * The header that the native text endpoint accepts a key in: `x-vendor-api-key`.
       */
      keyHeader?: string;
      /**
       * The header that image paths read a key in: `mj-api-secret`. Empty: none.
       */
      imageKeyHeader?: string;
      /**
       * The `type` of the service's error bodies: `svc_api_error`. The sandbox answers with it.
       */
      errorType?: string;
    };
/**
 * A text that stands in the service's reason, in capitals or not, or a `/pattern/` that is found in its first 256 characters.
 */
export type Reason = string;
/**
 * A number per submission, or `{ input, output }` per million tokens of a text model.
 */
export type Price =
  | number
  | {
      /**
       * Per million prompt tokens.
       */
      input: number;
      /**
       * Per million generated tokens, thinking included.
       */
      output: number;
    };
/**
 * A list of values, or a range of numbers: `{ from: 1, to: 4 }`. Templates use it by its name.
 */
export type Axis =
  | {
      [k: string]: unknown;
    }[]
  | {
      /**
       * The first number.
       */
      from: number;
      /**
       * The last number, at most; it is not smaller than `from`.
       */
      to: number;
      /**
       * The distance between two numbers, above 0.
       */
      step?: number;
    };
/**
 * One operation. Exactly one of the keys imagine, click, blend, describe, video, edit, generate and chat says which.
 */
export type Step =
  ImagineStep | ClickStep | BlendStep | DescribeStep | VideoStep | EditStep | GenerateStep | ChatStep;
/**
 * The text to send, a Liquid template: `{{ animal }} at dusk --v 6.1`.
 */
export type Prompt = string;
/**
 * Which bot draws, in the service's words. Default: the ordinary one of `service.names`.
 */
export type BotType = string;
/**
 * A file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`.
 */
export type Image = string;
/**
 * Images that the prompt goes with: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. With `gather`, the gathered images unless this names others.
 */
export type Images = Image[];
/**
 * The step that this one continues, one job per branch: `grid` is the step's own operation, `grid/U1` one branch of its path, `grid/*` each job one level below, `grid/**` every leaf.
 */
export type From = string;
/**
 * Like `from`, but one job per cell with all the branches' results as its images, for example for a judge that sees all four.
 */
export type Gather = string;
/**
 * Buttons pressed one after another on the step's result: `U1..U4 → Vary (Strong)`. `->` is the same as `→`; `U1..U4` and `U1,U3` fan out; `U*` presses all that match; `A | B` is the first that is there; a `?` makes a button optional. A list has one selector, or one `button` mapping, per item.
 *
 * @minItems 1
 */
export type Path = string | [PathSegment, ...PathSegment[]];
/**
 * A selector, or a mapping where the button opens a modal.
 */
export type PathSegment =
  | string
  | {
      button: Selector;
      prompt?: ModalPrompt;
      mask?: Mask;
      remix?: Remix;
    };
/**
 * Which button: its label (`U1`, `Vary (Strong)`), its emoji, a pattern for its customId (`/upsample::2::/`), or one of the words for those without a label: reroll, pan left, pan right, pan up, pan down, and prompt 1 to prompt 4 (what a describe suggests).
 */
export type Selector = string;
/**
 * Text for the window that the button opens, a template: for Vary (Region) what replaces the masked part, for Custom Zoom the prompt with `--zoom 1.5` (1 to 2).
 */
export type ModalPrompt = string;
/**
 * Which part is repainted: white is repainted, black is kept. A PNG file relative to the pipeline, `{ file: masks/neck.png, invert: true }`, or `{ shapes: [{ ellipse: [0.3, 0.1, 0.4, 0.5] }] }` in fractions of the image, drawn in its size. A file must have the size of the image. Turned into what the endpoint takes.
 */
export type Mask =
  | string
  | {
      /**
       * A PNG relative to the pipeline, a template: white is repainted, black is kept.
       */
      file?: string;
      /**
       * What is repainted: all of these together.
       *
       * @minItems 1
       * @maxItems 100
       */
      shapes?: [MaskShape, ...MaskShape[]];
      /**
       * true: what would be repainted is kept, and the rest repainted.
       */
      invert?: boolean;
    };
/**
 * `[x, y, width, height]` from the upper left corner, each from 0 to 1 of the image. A template that yields such a list is possible.
 *
 * @minItems 4
 * @maxItems 4
 */
export type MaskBox = [number | string, number | string, number | string, number | string] | string;
/**
 * The box that it fills: `[x, y, width, height]` from the upper left corner, each from 0 to 1 of the image. A template that yields such a list is possible.
 *
 * @minItems 4
 * @maxItems 4
 */
export type MaskBox1 = [number | string, number | string, number | string, number | string] | string;
/**
 * true: send enableRemix with the click, so that a button that varies, rerolls, pans or animates opens its window for `prompt`; without one the nearest prompt above answers it, below a button of a describe what that suggested. Vary (Region) sends it by itself.
 */
export type Remix = boolean;
/**
 * A Liquid condition, as inside `{% if … %}`. Where it is false, this step and all that follows from it are skipped.
 */
export type When = string;
/**
 * false: do not download what this step makes. One slot that wants a file is enough to keep it.
 */
export type Keep = boolean;
/**
 * split: each grid of four that this step and its path make is cut into its frames once it is downloaded. The frames are PNG files and rows of the manifest of their own, outputs 2 to 5 in the order U1 to U4; the grid stays output 1. Nothing is paid or downloaded for it, also where the step is finished already. What is no grid (its task offers no U1 to U4) stays whole.
 */
export type Grid = 'split';
/**
 * What is blended, 2 to 5 images: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. With `gather`, the gathered images unless this names others.
 *
 * @minItems 1
 * @maxItems 5
 */
export type Images1 =
  | [Image]
  | [Image, Image]
  | [Image, Image, Image]
  | [Image, Image, Image, Image]
  | [Image, Image, Image, Image, Image];
/**
 * What the model is shown, before the text of the prompt: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. PNG, JPEG, WebP, GIF, AVIF or HEIC of at most 20 MiB each. With `gather`, the gathered images unless this names others.
 */
export type Images2 = Image[];
/**
 * What the model is shown, before the text of the prompt: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. PNG, JPEG, WebP, GIF, AVIF or HEIC of at most 20 MiB each. With `gather`, the gathered images unless this names others.
 */
export type Images3 = Image[];

/**
 * A promptpress pipeline: which prompts to try (the matrix), which buttons to press on each result (a path), which texts to generate beside them.
 */
export interface PipelineFile {
  /**
   * Names the run directory: `runs/<name>` beside this file. Letters, digits, dots, hyphens and underscores; at most 100.
   */
  name: string;
  /**
   * What this pipeline is for, in a sentence. Shown in plans and reports; changes no job.
   */
  description?: string;
  service?: Service;
  limits?: Limits;
  retry?: Retry;
  timeouts?: Timeouts;
  poll?: Poll;
  budget?: Budget;
  prices?: Prices;
  models?: Models;
  /**
   * Which whole replies of text calls are kept in `replies/` of the run directory, with ratings, citations and thoughts: `all`, `failed` (only those that are no usable result) or `none`. The texts themselves are kept in any case. Changes no job.
   */
  keepReplies?: 'all' | 'failed' | 'none';
  matrix?: Matrix;
  /**
   * The operations of this pipeline by name. Each step carries exactly one kind key: imagine, click, blend, describe, video, edit, generate or chat. The order is the manifest's order.
   */
  steps: {
    [k: string]: Step;
  };
}
/**
 * The gateway that carries out the work. `${VAR}` and `${VAR:-default}` read the environment, in this block only: PROMPTPRESS_BASE_URL and variables whose names begin with PROMPTPRESS_VAR_.
 */
export interface Service {
  /**
   * Where the gateway is, for example `https://gateway.example.com`: without /v1, /v1beta or the image path behind it. The key is sent to an address written here once its user has trusted it.
   */
  baseUrl?: string;
  /**
   * The name of an environment variable that holds the key, as `${VAR}`; any name. A literal key is refused: a pipeline is checked into git.
   */
  apiKey?: string;
  /**
   * Part of every job's identity, so that results of one service are not taken for another's. Default: the base address's origin. Give it when one service has several addresses.
   */
  id?: string;
  /**
   * Speed of image tasks: relax is cheapest, turbo fastest. Default: relax; with the names of the family, what the gateway does by itself. Not part of a job's identity.
   */
  speed?: 'relax' | 'fast' | 'turbo';
  /**
   * How the key is sent. `bearer`: as `Authorization: Bearer`, on image paths in the header `names.imageKeyHeader` too; `header`: for `generate` in the header `names.keyHeader` alone, on image paths in `names.imageKeyHeader` alone; `raw`: on image paths as `Authorization` without Bearer; `none`: not at all on image paths, and no key is asked for. Chat and models always use `bearer`. Not part of a job's identity.
   */
  auth?: 'bearer' | 'header' | 'raw' | 'none';
  /**
   * How buttons are pressed: `action`: by the customIds that a task shows; `change`: U1 to U4, V1 to V4 and reroll by `submit/change`, all else by customIds; `auto`: by `change` where a gateway shows no buttons at all. Not part of a job's identity.
   */
  clicks?: 'auto' | 'action' | 'change';
  /**
   * true: image submissions carry the job's key in `state`, which gateways of this family keep with the task and show, so that a task can be found again by its job. false for a service that refuses the field. Not part of a job's identity.
   */
  tag?: boolean;
  names?: Names;
}
/**
 * How much may be under way at once, and how fast. Rates are upper bounds: refusals of the service (429) lower them further for a while.
 */
export interface Limits {
  /**
   * Image tasks that are submitted and not finished, at most.
   */
  tasks?: number;
  /**
   * HTTP requests under way at once, at most.
   */
  requests?: number;
  /**
   * Image submissions, for example `60/min`. Without it, no bound but the service's.
   */
  submit?: string;
  /**
   * Task look-ups, for example `10/s`. Without it, those of unfinished tasks are repeated 100 times a second at most.
   */
  poll?: string;
  /**
   * Artifact downloads, for example `20/s`. Without it, no bound but the service's.
   */
  download?: string;
  /**
   * Calls of generate and chat, for example `120/min`. Without it, no bound but the service's.
   */
  text?: string;
  /**
   * Tokens of text calls, for example `200000/min`. Without it, no bound but the service's.
   */
  tokens?: string;
}
/**
 * What is tried again, how often and how soon. Waits double from `base` up to `cap`, with jitter.
 */
export interface Retry {
  /**
   * HTTP tries of one request, the first included.
   */
  attempts?: number;
  /**
   * The wait before the second try.
   */
  base?: string;
  /**
   * No wait between two tries is longer.
   */
  cap?: string;
  /**
   * New submissions after a task failed for a reason that may pass. Each one costs a generation.
   */
  resubmits?: number;
  /**
   * What an image submission does on 408, 500, 502, 504, 520 to 524: `retry` is the service's own advice, and in doubt only when all tries are used up; with `hold` the job is in doubt at once. Where the file itself says `retry`, what a gateway reports of a broken connection behind it (`do_request_failed`) is tried again too, although some keep the charge; else such a job is in doubt. What is in doubt is not submitted again without your word. The answer to a button's dialog is held either way: it is looked for, and not sent again.
   */
  ambiguous?: 'retry' | 'hold';
  /**
   * A route that has only refused (429) for this long stops the run. No Retry-After is waited for longer than this, nor longer than an hour.
   */
  patience?: string;
  /**
   * New calls after a text answer that came and could not be used: JSON that is none or is not what its schema says, or nothing at all. Each one costs tokens.
   */
  invalid?: number;
  /**
   * Reasons of failed tasks that no new submission would change, besides those that are known: texts that stand in the reason, in capitals or not, or `/patterns/`. They go before `transient`, and both before what is known.
   *
   * @maxItems 100
   */
  permanent?: Reason[];
  /**
   * Reasons of failed tasks that may pass, so that a new submission is made (`resubmits`), besides those that are known: texts that stand in the reason, in capitals or not, or `/patterns/`.
   *
   * @maxItems 100
   */
  transient?: Reason[];
  /**
   * What a service says when the money of the account or of the key is used up, besides what is known: texts that stand in the words of a refusal, in capitals or not, or its code or type. The run stops with `service.quota`, and no row fails for it.
   *
   * @maxItems 100
   */
  quota?: string[];
}
/**
 * How long one thing may take.
 */
export interface Timeouts {
  /**
   * One HTTP request of the image workflow without any answer.
   */
  request?: string;
  /**
   * One image task from the first sign of work to its end. Its task id is kept, and later runs look at it again first.
   */
  task?: string;
  /**
   * One image task in the queue of the service, before the first sign of work.
   */
  queue?: string;
  /**
   * One call of generate or chat, from connecting to the last byte.
   */
  text?: string;
  /**
   * Of an answer that comes as a stream: until its first byte.
   */
  firstByte?: string;
  /**
   * Of a text answer that has begun: the longest silence.
   */
  idle?: string;
}
/**
 * Bounds of the polling interval, which adapts to how long tasks of each kind take, and to their progress.
 */
export interface Poll {
  /**
   * Between two looks at one task, at least.
   */
  min?: string;
  /**
   * Between two looks at one task, at most.
   */
  max?: string;
  /**
   * true: look at many tasks with one request, where the gateway offers that (`/task/list-by-condition`). Fewer requests for large runs.
   */
  list?: boolean;
}
/**
 * What this run directory may use in its lifetime; a run that reaches it stops and can be continued with a larger one. Without it there is no bound.
 */
export interface Budget {
  /**
   * Image submissions, every attempt counted.
   */
  submits?: number;
  /**
   * Tokens of all text calls.
   */
  tokens?: number;
  /**
   * Sum of `prices`, in their unit, so everything that runs needs one; also of submissions that nobody answered, which may have been paid.
   */
  cost?: number;
  /**
   * A run that is estimated to cost more than this asks first, in the unit of `prices`; everything that runs needs one. `--yes` says yes; without a terminal and without `--yes` the run is refused (exit 2) before anything is submitted.
   */
  ask?: number;
}
/**
 * What things cost, in any one unit: by step kind (`imagine`), by button label, `*` for any characters (`U*` is `Upscale (Subtle)` too), or by text model. Of several that fit, one without `*` counts, else the one that says most. What has no price has an unknown cost, not 0; with a `budget.cost` that is an error.
 */
export interface Prices {
  [k: string]: Price;
}
/**
 * What promptpress cannot know of a text model: how it takes its thinking parameter.
 */
export interface Models {
  /**
   * One model, by its id.
   */
  [k: string]: {
    /**
     * `level`: thinkingLevel (newer models); `budget`: thinkingBudget (earlier ones); `none`: neither.
     */
    thinking: 'level' | 'budget' | 'none';
  };
}
/**
 * Axes that multiply in written order, the first slowest; each combination is one cell. Then `exclude`, `include`, `sample` and `repeat`, in this order. Without a matrix there is one cell.
 */
export interface Matrix {
  /**
   * A table file, relative to the pipeline: .csv, .tsv, .jsonl (.ndjson), .json or .yaml. Each row is one value of this axis, and its columns become variables. Or `{ files: images/*.png }`: each file is a row.
   */
  rows?:
    | string
    | {
        /**
         * Files as rows, sorted by name: `*` is any part of a name, `**` any folders, `{png,jpg}` one of these; endings match in any case. Relative to the pipeline. The variables are `file` (the path, for `image: "{{ file }}"`) and `name` (without folder and ending).
         */
        files: string;
      };
  /**
   * Cells to leave out: each entry removes the cells that agree with all its values. Objects match partially. An entry that can match nothing is an error.
   *
   * @maxItems 10000
   */
  exclude?: PartialCell[];
  /**
   * Each entry extends the original cells that it does not contradict; where there are none, it adds a cell.
   *
   * @maxItems 10000
   */
  include?: PartialCell[];
  /**
   * Draws this many cells without replacement. More than there are takes all.
   */
  sample?: {
    /**
     * How many cells to draw.
     */
    count: number;
    /**
     * The same seed draws the same cells.
     */
    seed?: number;
  };
  /**
   * How often each cell is carried out. It is part of a job's identity, and `{{ repeat }}` in templates.
   */
  repeat?: number;
  [k: string]:
    | Axis
    | string
    | {
        /**
         * Files as rows, sorted by name: `*` is any part of a name, `**` any folders, `{png,jpg}` one of these; endings match in any case. Relative to the pipeline. The variables are `file` (the path, for `image: "{{ file }}"`) and `name` (without folder and ending).
         */
        files: string;
      }
    | PartialCell[]
    | {
        /**
         * How many cells to draw.
         */
        count: number;
        /**
         * The same seed draws the same cells.
         */
        seed?: number;
      }
    | number
    | undefined;
}
/**
 * Variables and the values they have. Values compare as they render: 1 is "1".
 */
export interface PartialCell {
  /**
   * A value of this variable; an object may name only some members.
   */
  [k: string]: {
    [k: string]: unknown;
  };
}
/**
 * Text to image: a grid of four.
 */
export interface ImagineStep {
  /**
   * The prompt, or a mapping with `prompt` and the other fields of the request.
   */
  imagine:
    | string
    | {
        prompt: Prompt;
        botType?: BotType;
        /**
         * Which accounts of the service may draw it, for example `{ modes: [FAST] }`. Gateways may ignore it; `service.speed` is the reliable way to a speed.
         */
        accountFilter?: {
          /**
           * Speeds in order of preference, in the service's words.
           */
          modes?: string[];
          [k: string]: unknown;
        };
        images?: Images;
      };
  from?: From;
  gather?: Gather;
  path?: Path;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  extra?: Extra;
}
/**
 * A rectangle, or the ellipse that fills one.
 */
export interface MaskShape {
  rectangle?: MaskBox;
  ellipse?: MaskBox1;
}
/**
 * An object merged into the request body, for fields of the service that have no key here. Its texts are templates.
 */
export interface Extra {
  [k: string]: unknown;
}
/**
 * Presses a button of the step that `from` names. A path is short for such steps.
 */
export interface ClickStep {
  /**
   * Which button: its label (`U1`, `Vary (Strong)`), its emoji, a pattern for its customId (`/upsample::2::/`), or one of the words for those without a label: reroll, pan left, pan right, pan up, pan down, and prompt 1 to prompt 4 (what a describe suggests).
   */
  click: string;
  prompt?: ModalPrompt;
  mask?: Mask;
  remix?: Remix;
  from: From;
  path?: Path;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  extra?: Extra;
}
/**
 * Blends 2 to 5 images into one.
 */
export interface BlendStep {
  /**
   * The images to blend. With `gather`, the gathered images unless `images` names others.
   */
  blend: {
    images?: Images1;
    /**
     * Shape of the result: portrait (2:3), square (1:1) or landscape (3:2). A template is possible.
     */
    dimensions?: string;
    botType?: BotType;
  };
  from?: From;
  gather?: Gather;
  path?: Path;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  extra?: Extra;
}
/**
 * Suggests four prompts for an image: later steps read them as `steps.<name>.prompts`, and its buttons (prompt 1 to prompt 4, reroll) draw them.
 */
export interface DescribeStep {
  /**
   * The image to describe.
   */
  describe: {
    image: Image;
    /**
     * Of the suggested prompts, in the service's words. A template is possible.
     */
    language?: string;
    botType?: BotType;
  };
  from?: From;
  path?: Path;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/**
 * Image to video, or a longer one of a video.
 */
export interface VideoStep {
  /**
   * The first frame and how it moves: `{ image, motion }`. Or `{ extend: 1 }` with `from:` a video step: its first video goes on.
   */
  video: {
    /**
     * A file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`.
     */
    image?: string;
    /**
     * Which video of the step that `from` names goes on, counted from 1 as its buttons are. A template is possible.
     */
    extend?: number | string;
    prompt?: Prompt;
    /**
     * How much moves: low or high. A template is possible.
     */
    motion?: string;
    /**
     * A file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`.
     */
    endImage?: string;
    /**
     * The last frame leads back to the first. A template such as `{{ loop }}` is possible.
     */
    loop?: boolean | string;
    /**
     * How many videos: 1, 2 or 4. A template such as `{{ size }}` is possible.
     */
    batchSize?: number | string;
    /**
     * Model and size, in the service's words.
     */
    videoType?: string;
    /**
     * manual: as `prompt` says; auto: the service finds the prompt. A template is possible.
     */
    animateMode?: string;
    botType?: BotType;
  };
  from?: From;
  path?: Path;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/**
 * Edits an image with a mask.
 */
export interface EditStep {
  /**
   * The image, its mask, and what to draw.
   */
  edit: {
    image: Image;
    mask?: Mask;
    prompt: Prompt;
    botType?: BotType;
  };
  from?: From;
  path?: Path;
  when?: When;
  keep?: Keep;
  grid?: Grid;
  extra?: Extra;
}
/**
 * Native text generation, with images, thinking, search, JSON and image output.
 */
export interface GenerateStep {
  /**
   * The request: every native field by its native name, and short forms of the common ones.
   */
  generate: {
    /**
     * A model id from the service's list (`promptpress models`), a template.
     */
    model: string;
    prompt?: Prompt;
    images?: Images2;
    /**
     * Instructions for the whole conversation, a template. Short for `systemInstruction`.
     */
    system?: string;
    /**
     * A level (minimal, low, medium, high) for newer models, or a budget in tokens for earlier ones (0: off, -1: as the model likes). Short for `generationConfig.thinkingConfig`. Which one a model takes can be said under `models`.
     */
    thinking?: string | number;
    /**
     * The answer is JSON of this schema (JSON Schema or the native subset), and is checked against it: templates of later steps read it as `steps.<name>.json`. Short for `generationConfig.responseSchema` with `responseMimeType: application/json`.
     */
    responseSchema?: {
      [k: string]: unknown;
    };
    /**
     * true: web search grounding. Short for the search entry of `tools`.
     */
    search?: boolean;
    /**
     * true: maps grounding. Short for the maps entry of `tools`.
     */
    maps?: boolean;
    /**
     * The earlier generate step whose turns come before this one: its own request and answer, and what it continued. Goes with `prompt`, not with `contents`.
     */
    continue?: string;
    /**
     * true: the answer comes as a stream, which keeps long answers from running into time-outs of the way. Not part of a job's identity.
     */
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
    /**
     * Instructions for the whole conversation, native: `{ parts: [{ text: … }] }`.
     */
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
    /**
     * How tools are used, such as the function-calling mode; native.
     */
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
    /**
     * temperature, maxOutputTokens, responseModalities and all else; native. Members not listed here are sent as they are.
     */
    generationConfig?: {
      /**
       * Randomness, from 0 to 2. A template is possible.
       */
      temperature?: number | string;
      /**
       * Nucleus sampling, from 0 to 1. A template is possible.
       */
      topP?: number | string;
      /**
       * How many of the likeliest tokens are considered. A template is possible.
       */
      topK?: number | string;
      /**
       * The most tokens of an answer, thinking included. A template is possible.
       */
      maxOutputTokens?: number | string;
      /**
       * What the answer is made of: `[TEXT, IMAGE]` makes images too.
       */
      responseModalities?: string[] | string;
      /**
       * `thinkingLevel` for newer models, `thinkingBudget` for earlier ones.
       */
      thinkingConfig?: {
        /**
         * Of newer models: MINIMAL, LOW, MEDIUM or HIGH.
         */
        thinkingLevel?: string;
        /**
         * Of earlier models: tokens; 0 is off, -1 as the model likes. A template is possible.
         */
        thinkingBudget?: number | string;
        /**
         * true: summaries of what the model thought come with the answer. They are no part of its text.
         */
        includeThoughts?: boolean | string;
        [k: string]: unknown;
      };
      /**
       * `application/json` forces JSON.
       */
      responseMimeType?: string;
      /**
       * The schema that a JSON answer keeps to, and is checked against; needs `responseMimeType: application/json`.
       */
      responseSchema?: {
        [k: string]: unknown;
      };
      /**
       * How many answers to make; each one is an output of the job. A template is possible.
       */
      candidateCount?: number | string;
      /**
       * Seed of the sampling. A template is possible.
       */
      seed?: number | string;
      /**
       * Texts that end the answer where they would appear.
       */
      stopSequences?: string[] | string;
      /**
       * Shape and size of images that the model makes: `{ aspectRatio: "16:9", imageSize: 2K }`.
       */
      imageConfig?: {
        [k: string]: unknown;
      };
      /**
       * The same as JSON Schema.
       */
      responseJsonSchema?: {
        [k: string]: unknown;
      };
      [k: string]: unknown;
    };
    /**
     * Name of cached content used as context: `cachedContents/<id>`.
     */
    cachedContent?: string;
    /**
     * Functions that the model may call, each with the answer it always gets, so that the conversation goes on by itself. Short for a `functionDeclarations` tool.
     */
    functions?: {
      /**
       * A native function declaration without its name, and its `answer`.
       */
      [k: string]: {
        /**
         * What it does: the model chooses by it.
         */
        description?: string;
        /**
         * Schema of its arguments; native.
         */
        parameters?: {
          [k: string]: unknown;
        };
        /**
         * What every call of it is answered with: an object, or a text that becomes `{ result: … }`.
         */
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
    /**
     * How often the model may call `functions` before it must have answered; each round is a call of the service.
     */
    rounds?: number;
    /**
     * true: the model may run code. Short for a `codeExecution` tool.
     */
    code?: boolean;
    /**
     * How JSON that was asked for is read. `lenient`: also behind thinking, among sentences, with trailing commas or raw control characters; the text stays as it was sent. `strict`: only where the answer is JSON, alone or in one code fence. Not part of a job's identity.
     */
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
  when?: When;
  keep?: Keep;
  extra?: Extra;
}
/**
 * The OpenAI-compatible chat endpoint.
 */
export interface ChatStep {
  /**
   * `{ model, messages }`, or `{ model, prompt, system, images }`.
   */
  chat: {
    /**
     * A model id from the service's list (`promptpress models`), a template.
     */
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
        /**
         * Who speaks.
         */
        role: string;
        /**
         * Text, or a list of parts.
         */
        content:
          | string
          | {
              [k: string]: unknown;
            }[];
        [k: string]: unknown;
      },
      ...{
        /**
         * Who speaks.
         */
        role: string;
        /**
         * Text, or a list of parts.
         */
        content:
          | string
          | {
              [k: string]: unknown;
            }[];
        [k: string]: unknown;
      }[]
    ];
    prompt?: Prompt;
    /**
     * The system message, a template. Goes with `prompt`.
     */
    system?: string;
    images?: Images3;
    /**
     * true: the answer comes as a stream, which keeps long answers from running into time-outs of the way. Not part of a job's identity.
     */
    stream?: boolean;
    /**
     * How JSON that was asked for is read. `lenient`: also behind thinking, among sentences, with trailing commas or raw control characters; the text stays as it was sent. `strict`: only where the answer is JSON, alone or in one code fence. Not part of a job's identity.
     */
    reply?: 'lenient' | 'strict';
    /**
     * Finish reasons whose text is a result all the same, for example `[length]`. Not part of a job's identity.
     *
     * Items: A finish reason as the service writes it; no template.
     */
    accept?: string[];
    /**
     * Randomness, from 0 to 2. A template is possible.
     */
    temperature?: number | string;
    /**
     * Native: `{ type: json_object }`, or `{ type: json_schema, json_schema: { name: …, schema: … } }`.
     */
    response_format?: {
      [k: string]: unknown;
    };
    /**
     * The most tokens of an answer. A template is possible.
     */
    max_tokens?: number | string;
  };
  from?: From;
  gather?: Gather;
  when?: When;
  keep?: Keep;
  extra?: Extra;
}

/** The JSON Schema of {@link PipelineFile}: schemas/pipeline.schema.json. */
export const pipelineSchema: Readonly<Record<string, unknown>> = {
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:promptpress:schema:pipeline",
  "title": "Pipeline file",
  "description": "A promptpress pipeline: which prompts to try (the matrix), which buttons to press on each result (a path), which texts to generate beside them.",
  "type": "object",
  "additionalProperties": false,
  "required": [
    "name",
    "steps"
  ],
  "patternProperties": {
    "^x-": {
      "title": "Shared part",
      "description": "A part for anchors (`&base`), aliases (`*base`) and merge keys (`<<: *base`) in the rest of the file. It is not read where it stands: a name with x- at the beginning of a line is free."
    }
  },
  "properties": {
    "name": {
      "title": "Pipeline name",
      "description": "Names the run directory: `runs/<name>` beside this file. Letters, digits, dots, hyphens and underscores; at most 100.",
      "type": "string",
      "pattern": "^[\\p{L}\\p{N}][\\p{L}\\p{N}._-]{0,99}$",
      "examples": [
        "foxes",
        "night-set_2"
      ]
    },
    "description": {
      "title": "Description",
      "description": "What this pipeline is for, in a sentence. Shown in plans and reports; changes no job.",
      "type": "string"
    },
    "service": {
      "$ref": "#/$defs/service"
    },
    "limits": {
      "$ref": "#/$defs/limits"
    },
    "retry": {
      "$ref": "#/$defs/retry"
    },
    "timeouts": {
      "$ref": "#/$defs/timeouts"
    },
    "poll": {
      "$ref": "#/$defs/poll"
    },
    "budget": {
      "$ref": "#/$defs/budget"
    },
    "prices": {
      "$ref": "#/$defs/prices"
    },
    "models": {
      "$ref": "#/$defs/models"
    },
    "keepReplies": {
      "title": "Whole replies",
      "description": "Which whole replies of text calls are kept in `replies/` of the run directory, with ratings, citations and thoughts: `all`, `failed` (only those that are no usable result) or `none`. The texts themselves are kept in any case. Changes no job.",
      "enum": [
        "all",
        "failed",
        "none"
      ],
      "default": "all"
    },
    "matrix": {
      "$ref": "#/$defs/matrix"
    },
    "steps": {
      "title": "Steps",
      "description": "The operations of this pipeline by name. Each step carries exactly one kind key: imagine, click, blend, describe, video, edit, generate or chat. The order is the manifest's order.",
      "type": "object",
      "minProperties": 1,
      "maxProperties": 1000,
      "propertyNames": {
        "$ref": "#/$defs/identifier"
      },
      "additionalProperties": {
        "$ref": "#/$defs/step"
      }
    }
  },
  "$defs": {
    "identifier": {
      "title": "name",
      "description": "A letter or underscore, then letters, digits, underscores and hyphens.",
      "type": "string",
      "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,63}$",
      "examples": [
        "grid",
        "best_of-4"
      ]
    },
    "duration": {
      "title": "duration",
      "description": "A number with its unit: ms, s, m or h.",
      "type": "string",
      "pattern": "^[0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h)$",
      "examples": [
        "250ms",
        "30s",
        "20m",
        "6h"
      ]
    },
    "rate": {
      "title": "rate",
      "description": "A number per s, min or h.",
      "type": "string",
      "pattern": "^[0-9]{1,12}(\\.[0-9]{1,3})?/(s|min|h)$",
      "examples": [
        "5/s",
        "60/min",
        "2000/h"
      ]
    },
    "service": {
      "title": "Service",
      "description": "The gateway that carries out the work. `${VAR}` and `${VAR:-default}` read the environment, in this block only: PROMPTPRESS_BASE_URL and variables whose names begin with PROMPTPRESS_VAR_.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "baseUrl": {
          "title": "Base address",
          "description": "Where the gateway is, for example `https://gateway.example.com`: without /v1, /v1beta or the image path behind it. The key is sent to an address written here once its user has trusted it.",
          "type": "string",
          "minLength": 1,
          "default": "${PROMPTPRESS_BASE_URL}"
        },
        "apiKey": {
          "title": "API key",
          "description": "The name of an environment variable that holds the key, as `${VAR}`; any name. A literal key is refused: a pipeline is checked into git.",
          "type": "string",
          "default": "${PROMPTPRESS_API_KEY}"
        },
        "id": {
          "title": "Service identity",
          "description": "Part of every job's identity, so that results of one service are not taken for another's. Default: the base address's origin. Give it when one service has several addresses.",
          "type": "string",
          "minLength": 1
        },
        "speed": {
          "title": "Speed",
          "description": "Speed of image tasks: relax is cheapest, turbo fastest. Default: relax; with the names of the family, what the gateway does by itself. Not part of a job's identity.",
          "type": "string",
          "enum": [
            "relax",
            "fast",
            "turbo"
          ]
        },
        "auth": {
          "title": "Authentication",
          "description": "How the key is sent. `bearer`: as `Authorization: Bearer`, on image paths in the header `names.imageKeyHeader` too; `header`: for `generate` in the header `names.keyHeader` alone, on image paths in `names.imageKeyHeader` alone; `raw`: on image paths as `Authorization` without Bearer; `none`: not at all on image paths, and no key is asked for. Chat and models always use `bearer`. Not part of a job's identity.",
          "type": "string",
          "enum": [
            "bearer",
            "header",
            "raw",
            "none"
          ],
          "default": "bearer"
        },
        "clicks": {
          "title": "Clicks",
          "description": "How buttons are pressed: `action`: by the customIds that a task shows; `change`: U1 to U4, V1 to V4 and reroll by `submit/change`, all else by customIds; `auto`: by `change` where a gateway shows no buttons at all. Not part of a job's identity.",
          "type": "string",
          "enum": [
            "auto",
            "action",
            "change"
          ],
          "default": "auto"
        },
        "tag": {
          "title": "Tag",
          "description": "true: image submissions carry the job's key in `state`, which gateways of this family keep with the task and show, so that a task can be found again by its job. false for a service that refuses the field. Not part of a job's identity.",
          "type": "boolean",
          "default": true
        },
        "names": {
          "$ref": "#/$defs/names"
        }
      }
    },
    "names": {
      "title": "Names",
      "description": "The words in which gateways of one family differ: a preset (`neutral` or `midjourney-proxy`), or a map of single names that replace a preset's.",
      "type": [
        "string",
        "object"
      ],
      "pattern": "^(neutral|midjourney-proxy)$",
      "examples": [
        "neutral",
        "midjourney-proxy"
      ],
      "default": "neutral",
      "additionalProperties": false,
      "properties": {
        "preset": {
          "title": "Preset",
          "description": "The set of names that the others replace single names of.",
          "type": "string",
          "enum": [
            "neutral",
            "midjourney-proxy"
          ],
          "default": "neutral"
        },
        "path": {
          "title": "Image path",
          "description": "First path segment of the image workflow: `img` in `/img/submit/imagine`.",
          "type": "string",
          "minLength": 1
        },
        "relaxPrefix": {
          "title": "Relax prefix",
          "description": "Path prefix of relax mode, where the file asks for it: `mj-relax` in `/mj-relax/mj/submit/imagine`. Empty: none.",
          "type": "string"
        },
        "fastPrefix": {
          "title": "Fast prefix",
          "description": "Path prefix of fast mode: `img-fast` in `/img-fast/img/submit/imagine`.",
          "type": "string",
          "minLength": 1
        },
        "turboPrefix": {
          "title": "Turbo prefix",
          "description": "Path prefix of turbo mode: `img-turbo` in `/img-turbo/img/submit/imagine`.",
          "type": "string",
          "minLength": 1
        },
        "nativePath": {
          "title": "Native path",
          "description": "First path segment of the native text endpoint: `v1beta` in `/v1beta/models/text-pro:generateContent`. Some gateways have it under `v1`.",
          "type": "string",
          "minLength": 1
        },
        "customId": {
          "title": "customId prefix",
          "description": "First part of every customId: `IMG` in `IMG::JOB::upsample::1::…`.",
          "type": "string",
          "minLength": 1
        },
        "botType": {
          "title": "Bot type",
          "description": "The botType that imagine sends unless the step names one: `IMG_JOURNEY`.",
          "type": "string",
          "minLength": 1
        },
        "searchTool": {
          "title": "Search tool",
          "description": "The tools entry that turns search grounding on: `vendor_search`.",
          "type": "string",
          "minLength": 1
        },
        "mapsTool": {
          "title": "Maps tool",
          "description": "The tools entry that turns maps grounding on: `vendorMaps`.",
          "type": "string",
          "minLength": 1
        },
        "keyHeader": {
          "title": "Key header",
          "description": "The header that the native text endpoint accepts a key in: `x-vendor-api-key`.",
          "type": "string",
          "minLength": 1
        },
        "imageKeyHeader": {
          "title": "Key header of images",
          "description": "The header that image paths read a key in: `mj-api-secret`. Empty: none.",
          "type": "string"
        },
        "errorType": {
          "title": "Error type",
          "description": "The `type` of the service's error bodies: `svc_api_error`. The sandbox answers with it.",
          "type": "string",
          "minLength": 1
        }
      }
    },
    "limits": {
      "title": "Limits",
      "description": "How much may be under way at once, and how fast. Rates are upper bounds: refusals of the service (429) lower them further for a while.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "tasks": {
          "title": "Image tasks in flight",
          "description": "Image tasks that are submitted and not finished, at most.",
          "type": "integer",
          "minimum": 1,
          "maximum": 10000,
          "default": 12
        },
        "requests": {
          "title": "Requests in flight",
          "description": "HTTP requests under way at once, at most.",
          "type": "integer",
          "minimum": 1,
          "maximum": 10000,
          "default": 32
        },
        "submit": {
          "$ref": "#/$defs/rate",
          "title": "Submissions",
          "description": "Image submissions, for example `60/min`. Without it, no bound but the service's."
        },
        "poll": {
          "$ref": "#/$defs/rate",
          "title": "Polls",
          "description": "Task look-ups, for example `10/s`. Without it, those of unfinished tasks are repeated 100 times a second at most."
        },
        "download": {
          "$ref": "#/$defs/rate",
          "title": "Downloads",
          "description": "Artifact downloads, for example `20/s`. Without it, no bound but the service's."
        },
        "text": {
          "$ref": "#/$defs/rate",
          "title": "Text calls",
          "description": "Calls of generate and chat, for example `120/min`. Without it, no bound but the service's."
        },
        "tokens": {
          "$ref": "#/$defs/rate",
          "title": "Tokens",
          "description": "Tokens of text calls, for example `200000/min`. Without it, no bound but the service's."
        }
      }
    },
    "retry": {
      "title": "Retry",
      "description": "What is tried again, how often and how soon. Waits double from `base` up to `cap`, with jitter.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "attempts": {
          "title": "Attempts",
          "description": "HTTP tries of one request, the first included.",
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 6
        },
        "base": {
          "$ref": "#/$defs/duration",
          "title": "First wait",
          "description": "The wait before the second try.",
          "default": "1s"
        },
        "cap": {
          "$ref": "#/$defs/duration",
          "title": "Longest wait",
          "description": "No wait between two tries is longer.",
          "default": "60s"
        },
        "resubmits": {
          "title": "Resubmits",
          "description": "New submissions after a task failed for a reason that may pass. Each one costs a generation.",
          "type": "integer",
          "minimum": 0,
          "maximum": 100,
          "default": 2
        },
        "ambiguous": {
          "title": "Ambiguous answers",
          "description": "What an image submission does on 408, 500, 502, 504, 520 to 524: `retry` is the service's own advice, and in doubt only when all tries are used up; with `hold` the job is in doubt at once. Where the file itself says `retry`, what a gateway reports of a broken connection behind it (`do_request_failed`) is tried again too, although some keep the charge; else such a job is in doubt. What is in doubt is not submitted again without your word. The answer to a button's dialog is held either way: it is looked for, and not sent again.",
          "type": "string",
          "enum": [
            "retry",
            "hold"
          ],
          "default": "retry"
        },
        "patience": {
          "$ref": "#/$defs/duration",
          "title": "Patience",
          "description": "A route that has only refused (429) for this long stops the run. No Retry-After is waited for longer than this, nor longer than an hour.",
          "default": "1h"
        },
        "invalid": {
          "title": "Unusable answers",
          "description": "New calls after a text answer that came and could not be used: JSON that is none or is not what its schema says, or nothing at all. Each one costs tokens.",
          "type": "integer",
          "minimum": 0,
          "maximum": 100,
          "default": 2
        },
        "permanent": {
          "title": "Permanent reasons",
          "description": "Reasons of failed tasks that no new submission would change, besides those that are known: texts that stand in the reason, in capitals or not, or `/patterns/`. They go before `transient`, and both before what is known.",
          "type": "array",
          "maxItems": 100,
          "items": {
            "$ref": "#/$defs/reason"
          },
          "examples": [
            [
              "content policy",
              "/^blocked by rule \\d+/"
            ]
          ],
          "default": []
        },
        "transient": {
          "title": "Transient reasons",
          "description": "Reasons of failed tasks that may pass, so that a new submission is made (`resubmits`), besides those that are known: texts that stand in the reason, in capitals or not, or `/patterns/`.",
          "type": "array",
          "maxItems": 100,
          "items": {
            "$ref": "#/$defs/reason"
          },
          "examples": [
            [
              "worker lost",
              "/upstream (busy|gone)/"
            ]
          ],
          "default": []
        },
        "quota": {
          "title": "Used-up quota",
          "description": "What a service says when the money of the account or of the key is used up, besides what is known: texts that stand in the words of a refusal, in capitals or not, or its code or type. The run stops with `service.quota`, and no row fails for it.",
          "type": "array",
          "maxItems": 100,
          "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000
          },
          "examples": [
            [
              "plan limit reached",
              "points_exhausted"
            ]
          ],
          "default": []
        }
      }
    },
    "reason": {
      "title": "Reason",
      "description": "A text that stands in the service's reason, in capitals or not, or a `/pattern/` that is found in its first 256 characters.",
      "type": "string",
      "minLength": 1,
      "maxLength": 1000,
      "examples": [
        "worker lost",
        "/^upstream (busy|gone)/"
      ]
    },
    "timeouts": {
      "title": "Time-outs",
      "description": "How long one thing may take.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "request": {
          "$ref": "#/$defs/duration",
          "title": "Request",
          "description": "One HTTP request of the image workflow without any answer.",
          "default": "60s"
        },
        "task": {
          "$ref": "#/$defs/duration",
          "title": "Task",
          "description": "One image task from the first sign of work to its end. Its task id is kept, and later runs look at it again first.",
          "default": "20m"
        },
        "queue": {
          "$ref": "#/$defs/duration",
          "title": "Queue",
          "description": "One image task in the queue of the service, before the first sign of work.",
          "default": "2h"
        },
        "text": {
          "$ref": "#/$defs/duration",
          "title": "Text call",
          "description": "One call of generate or chat, from connecting to the last byte.",
          "default": "10m"
        },
        "firstByte": {
          "$ref": "#/$defs/duration",
          "title": "First byte",
          "description": "Of an answer that comes as a stream: until its first byte.",
          "default": "3m"
        },
        "idle": {
          "$ref": "#/$defs/duration",
          "title": "Silence",
          "description": "Of a text answer that has begun: the longest silence.",
          "default": "60s"
        }
      }
    },
    "poll": {
      "title": "Polling",
      "description": "Bounds of the polling interval, which adapts to how long tasks of each kind take, and to their progress.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "min": {
          "$ref": "#/$defs/duration",
          "title": "Shortest interval",
          "description": "Between two looks at one task, at least.",
          "default": "1s"
        },
        "max": {
          "$ref": "#/$defs/duration",
          "title": "Longest interval",
          "description": "Between two looks at one task, at most.",
          "default": "15s"
        },
        "list": {
          "title": "Many at once",
          "description": "true: look at many tasks with one request, where the gateway offers that (`/task/list-by-condition`). Fewer requests for large runs.",
          "type": "boolean",
          "default": false
        }
      }
    },
    "budget": {
      "title": "Budget",
      "description": "What this run directory may use in its lifetime; a run that reaches it stops and can be continued with a larger one. Without it there is no bound.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "submits": {
          "title": "Submissions",
          "description": "Image submissions, every attempt counted.",
          "type": "integer",
          "minimum": 0
        },
        "tokens": {
          "title": "Tokens",
          "description": "Tokens of all text calls.",
          "type": "integer",
          "minimum": 0
        },
        "cost": {
          "title": "Cost",
          "description": "Sum of `prices`, in their unit, so everything that runs needs one; also of submissions that nobody answered, which may have been paid.",
          "type": "number",
          "minimum": 0
        },
        "ask": {
          "title": "Ask",
          "description": "A run that is estimated to cost more than this asks first, in the unit of `prices`; everything that runs needs one. `--yes` says yes; without a terminal and without `--yes` the run is refused (exit 2) before anything is submitted.",
          "type": "number",
          "minimum": 0
        }
      }
    },
    "prices": {
      "title": "Prices",
      "description": "What things cost, in any one unit: by step kind (`imagine`), by button label, `*` for any characters (`U*` is `Upscale (Subtle)` too), or by text model. Of several that fit, one without `*` counts, else the one that says most. What has no price has an unknown cost, not 0; with a `budget.cost` that is an error.",
      "type": "object",
      "examples": [
        {
          "imagine": 0.04,
          "U*": 0.01,
          "text-pro": {
            "input": 1.25,
            "output": 10
          }
        }
      ],
      "additionalProperties": {
        "$ref": "#/$defs/price"
      }
    },
    "price": {
      "title": "Price",
      "description": "A number per submission, or `{ input, output }` per million tokens of a text model.",
      "type": [
        "number",
        "object"
      ],
      "minimum": 0,
      "required": [
        "input",
        "output"
      ],
      "additionalProperties": false,
      "properties": {
        "input": {
          "title": "Input",
          "description": "Per million prompt tokens.",
          "type": "number",
          "minimum": 0
        },
        "output": {
          "title": "Output",
          "description": "Per million generated tokens, thinking included.",
          "type": "number",
          "minimum": 0
        }
      }
    },
    "models": {
      "title": "Models",
      "description": "What promptpress cannot know of a text model: how it takes its thinking parameter.",
      "type": "object",
      "examples": [
        {
          "text-pro": {
            "thinking": "level"
          }
        }
      ],
      "additionalProperties": {
        "title": "Model",
        "description": "One model, by its id.",
        "type": "object",
        "additionalProperties": false,
        "required": [
          "thinking"
        ],
        "properties": {
          "thinking": {
            "title": "Thinking",
            "description": "`level`: thinkingLevel (newer models); `budget`: thinkingBudget (earlier ones); `none`: neither.",
            "type": "string",
            "enum": [
              "level",
              "budget",
              "none"
            ]
          }
        }
      }
    },
    "matrix": {
      "title": "Matrix",
      "description": "Axes that multiply in written order, the first slowest; each combination is one cell. Then `exclude`, `include`, `sample` and `repeat`, in this order. Without a matrix there is one cell.",
      "type": "object",
      "propertyNames": {
        "$ref": "#/$defs/identifier"
      },
      "properties": {
        "rows": {
          "title": "Rows",
          "description": "A table file, relative to the pipeline: .csv, .tsv, .jsonl (.ndjson), .json or .yaml. Each row is one value of this axis, and its columns become variables. Or `{ files: images/*.png }`: each file is a row.",
          "type": [
            "string",
            "object"
          ],
          "minLength": 1,
          "examples": [
            "data/scenes.csv",
            {
              "files": "images/*.png"
            }
          ],
          "additionalProperties": false,
          "required": [
            "files"
          ],
          "properties": {
            "files": {
              "title": "Files",
              "description": "Files as rows, sorted by name: `*` is any part of a name, `**` any folders, `{png,jpg}` one of these; endings match in any case. Relative to the pipeline. The variables are `file` (the path, for `image: \"{{ file }}\"`) and `name` (without folder and ending).",
              "type": "string",
              "minLength": 1,
              "examples": [
                "images/*.png",
                "shots/**/*.{jpg,png}"
              ]
            }
          }
        },
        "exclude": {
          "title": "Exclude",
          "description": "Cells to leave out: each entry removes the cells that agree with all its values. Objects match partially. An entry that can match nothing is an error.",
          "type": "array",
          "maxItems": 10000,
          "items": {
            "$ref": "#/$defs/partialCell"
          },
          "examples": [
            [
              {
                "animal": "owl",
                "medium": {
                  "name": "ink"
                }
              }
            ]
          ]
        },
        "include": {
          "title": "Include",
          "description": "Each entry extends the original cells that it does not contradict; where there are none, it adds a cell.",
          "type": "array",
          "maxItems": 10000,
          "items": {
            "$ref": "#/$defs/partialCell"
          },
          "examples": [
            [
              {
                "animal": "lynx",
                "seed": 9
              }
            ]
          ]
        },
        "sample": {
          "title": "Sample",
          "description": "Draws this many cells without replacement. More than there are takes all.",
          "type": "object",
          "additionalProperties": false,
          "required": [
            "count"
          ],
          "properties": {
            "count": {
              "title": "Count",
              "description": "How many cells to draw.",
              "type": "integer",
              "minimum": 1,
              "maximum": 9007199254740991
            },
            "seed": {
              "title": "Seed",
              "description": "The same seed draws the same cells.",
              "type": "integer",
              "minimum": 0,
              "maximum": 9007199254740991,
              "default": 0
            }
          }
        },
        "repeat": {
          "title": "Repeat",
          "description": "How often each cell is carried out. It is part of a job's identity, and `{{ repeat }}` in templates.",
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000,
          "default": 1
        }
      },
      "additionalProperties": {
        "$ref": "#/$defs/axis"
      }
    },
    "axis": {
      "title": "Axis",
      "description": "A list of values, or a range of numbers: `{ from: 1, to: 4 }`. Templates use it by its name.",
      "type": [
        "array",
        "object"
      ],
      "examples": [
        [
          "fox",
          "owl"
        ],
        {
          "from": 1,
          "to": 4
        }
      ],
      "items": {
        "title": "Value",
        "description": "Text, a number, true, false, or an object whose members templates read as `{{ axis.member }}`."
      },
      "additionalProperties": false,
      "required": [
        "from",
        "to"
      ],
      "properties": {
        "from": {
          "title": "From",
          "description": "The first number.",
          "type": "number",
          "minimum": -9007199254740991,
          "maximum": 9007199254740991
        },
        "to": {
          "title": "To",
          "description": "The last number, at most; it is not smaller than `from`.",
          "type": "number",
          "minimum": -9007199254740991,
          "maximum": 9007199254740991
        },
        "step": {
          "title": "Step",
          "description": "The distance between two numbers, above 0.",
          "type": "number",
          "exclusiveMinimum": 0,
          "maximum": 9007199254740991,
          "default": 1
        }
      }
    },
    "partialCell": {
      "title": "Partial cell",
      "description": "Variables and the values they have. Values compare as they render: 1 is \"1\".",
      "type": "object",
      "minProperties": 1,
      "additionalProperties": {
        "title": "Value",
        "description": "A value of this variable; an object may name only some members."
      }
    },
    "step": {
      "title": "Step",
      "description": "One operation. Exactly one of the keys imagine, click, blend, describe, video, edit, generate and chat says which.",
      "oneOf": [
        {
          "$ref": "#/$defs/imagineStep"
        },
        {
          "$ref": "#/$defs/clickStep"
        },
        {
          "$ref": "#/$defs/blendStep"
        },
        {
          "$ref": "#/$defs/describeStep"
        },
        {
          "$ref": "#/$defs/videoStep"
        },
        {
          "$ref": "#/$defs/editStep"
        },
        {
          "$ref": "#/$defs/generateStep"
        },
        {
          "$ref": "#/$defs/chatStep"
        }
      ]
    },
    "from": {
      "title": "From",
      "description": "The step that this one continues, one job per branch: `grid` is the step's own operation, `grid/U1` one branch of its path, `grid/*` each job one level below, `grid/**` every leaf.",
      "type": "string",
      "minLength": 1,
      "examples": [
        "grid",
        "grid/U1",
        "grid/*",
        "grid/**"
      ]
    },
    "gather": {
      "title": "Gather",
      "description": "Like `from`, but one job per cell with all the branches' results as its images, for example for a judge that sees all four.",
      "type": "string",
      "minLength": 1,
      "examples": [
        "grid/*"
      ]
    },
    "path": {
      "title": "Path",
      "description": "Buttons pressed one after another on the step's result: `U1..U4 → Vary (Strong)`. `->` is the same as `→`; `U1..U4` and `U1,U3` fan out; `U*` presses all that match; `A | B` is the first that is there; a `?` makes a button optional. A list has one selector, or one `button` mapping, per item.",
      "type": [
        "string",
        "array"
      ],
      "minLength": 1,
      "minItems": 1,
      "examples": [
        "U1..U4 → Vary (Strong)",
        "U1 -> Upscale (Subtle) | Upscale (2x)"
      ],
      "items": {
        "$ref": "#/$defs/pathSegment"
      }
    },
    "pathSegment": {
      "title": "Path segment",
      "description": "A selector, or a mapping where the button opens a modal.",
      "type": [
        "string",
        "object"
      ],
      "minLength": 1,
      "additionalProperties": false,
      "required": [
        "button"
      ],
      "properties": {
        "button": {
          "$ref": "#/$defs/selector"
        },
        "prompt": {
          "$ref": "#/$defs/modalPrompt"
        },
        "mask": {
          "$ref": "#/$defs/mask"
        },
        "remix": {
          "$ref": "#/$defs/remix"
        }
      }
    },
    "selector": {
      "title": "Selector",
      "description": "Which button: its label (`U1`, `Vary (Strong)`), its emoji, a pattern for its customId (`/upsample::2::/`), or one of the words for those without a label: reroll, pan left, pan right, pan up, pan down, and prompt 1 to prompt 4 (what a describe suggests).",
      "type": "string",
      "minLength": 1,
      "examples": [
        "U1",
        "Vary (Strong)",
        "reroll",
        "pan left",
        "prompt 1",
        "/upsample::2::/"
      ]
    },
    "modalPrompt": {
      "title": "Modal prompt",
      "description": "Text for the window that the button opens, a template: for Vary (Region) what replaces the masked part, for Custom Zoom the prompt with `--zoom 1.5` (1 to 2).",
      "type": "string",
      "minLength": 1,
      "examples": [
        "a red scarf",
        "{{ animal }} --ar 1:1 --zoom 1.5"
      ]
    },
    "mask": {
      "title": "Mask",
      "description": "Which part is repainted: white is repainted, black is kept. A PNG file relative to the pipeline, `{ file: masks/neck.png, invert: true }`, or `{ shapes: [{ ellipse: [0.3, 0.1, 0.4, 0.5] }] }` in fractions of the image, drawn in its size. A file must have the size of the image. Turned into what the endpoint takes.",
      "type": [
        "string",
        "object"
      ],
      "minLength": 1,
      "examples": [
        "masks/neck.png",
        {
          "file": "masks/neck.png",
          "invert": true
        },
        {
          "shapes": [
            {
              "rectangle": [
                0,
                0.5,
                1,
                0.5
              ]
            }
          ]
        }
      ],
      "additionalProperties": false,
      "if": {
        "type": "object"
      },
      "then": {
        "oneOf": [
          {
            "required": [
              "file"
            ]
          },
          {
            "required": [
              "shapes"
            ]
          }
        ]
      },
      "properties": {
        "file": {
          "title": "Mask file",
          "description": "A PNG relative to the pipeline, a template: white is repainted, black is kept.",
          "type": "string",
          "minLength": 1,
          "examples": [
            "masks/neck.png",
            "masks/{{ name }}.png"
          ]
        },
        "shapes": {
          "title": "Shapes",
          "description": "What is repainted: all of these together.",
          "type": "array",
          "minItems": 1,
          "maxItems": 100,
          "items": {
            "$ref": "#/$defs/maskShape"
          }
        },
        "invert": {
          "title": "Invert",
          "description": "true: what would be repainted is kept, and the rest repainted.",
          "type": "boolean",
          "default": false
        }
      }
    },
    "maskShape": {
      "title": "Shape",
      "description": "A rectangle, or the ellipse that fills one.",
      "type": "object",
      "additionalProperties": false,
      "oneOf": [
        {
          "required": [
            "rectangle"
          ]
        },
        {
          "required": [
            "ellipse"
          ]
        }
      ],
      "properties": {
        "rectangle": {
          "$ref": "#/$defs/maskBox",
          "title": "Rectangle",
          "description": "`[x, y, width, height]` from the upper left corner, each from 0 to 1 of the image. A template that yields such a list is possible."
        },
        "ellipse": {
          "$ref": "#/$defs/maskBox",
          "title": "Ellipse",
          "description": "The box that it fills: `[x, y, width, height]` from the upper left corner, each from 0 to 1 of the image. A template that yields such a list is possible."
        }
      }
    },
    "maskBox": {
      "title": "box",
      "description": "`[x, y, width, height]`, each from 0 to 1 of the image.",
      "type": [
        "array",
        "string"
      ],
      "minItems": 4,
      "maxItems": 4,
      "pattern": "\\{\\{",
      "examples": [
        "{{ region }}"
      ],
      "items": {
        "title": "fraction",
        "description": "From 0 to 1 of the image's width or height. A template such as `{{ left }}` is possible.",
        "type": [
          "number",
          "string"
        ],
        "minimum": 0,
        "maximum": 1,
        "pattern": "\\{\\{",
        "examples": [
          "{{ left }}"
        ]
      }
    },
    "remix": {
      "title": "Remix",
      "description": "true: send enableRemix with the click, so that a button that varies, rerolls, pans or animates opens its window for `prompt`; without one the nearest prompt above answers it, below a button of a describe what that suggested. Vary (Region) sends it by itself.",
      "type": "boolean"
    },
    "when": {
      "title": "When",
      "description": "A Liquid condition, as inside `{% if … %}`. Where it is false, this step and all that follows from it are skipped.",
      "type": "string",
      "minLength": 1,
      "examples": [
        "seed > 2",
        "animal == \"owl\" and medium.stylize < 100"
      ]
    },
    "keep": {
      "title": "Keep",
      "description": "false: do not download what this step makes. One slot that wants a file is enough to keep it.",
      "type": "boolean",
      "default": true
    },
    "grid": {
      "title": "Grid",
      "description": "split: each grid of four that this step and its path make is cut into its frames once it is downloaded. The frames are PNG files and rows of the manifest of their own, outputs 2 to 5 in the order U1 to U4; the grid stays output 1. Nothing is paid or downloaded for it, also where the step is finished already. What is no grid (its task offers no U1 to U4) stays whole.",
      "type": "string",
      "enum": [
        "split"
      ]
    },
    "extra": {
      "title": "Extra",
      "description": "An object merged into the request body, for fields of the service that have no key here. Its texts are templates.",
      "type": "object"
    },
    "prompt": {
      "title": "Prompt",
      "description": "The text to send, a Liquid template: `{{ animal }} at dusk --v 6.1`.",
      "type": "string",
      "minLength": 1
    },
    "image": {
      "title": "Image",
      "description": "A file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`.",
      "type": "string",
      "minLength": 1,
      "examples": [
        "parent",
        "images/fox.png",
        "steps.grid"
      ]
    },
    "images": {
      "title": "Images",
      "description": "Each one a file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`.",
      "type": "array",
      "items": {
        "$ref": "#/$defs/image"
      }
    },
    "botType": {
      "title": "Bot type",
      "description": "Which bot draws, in the service's words. Default: the ordinary one of `service.names`.",
      "type": "string",
      "minLength": 1
    },
    "imagineStep": {
      "title": "imagine",
      "description": "Text to image: a grid of four.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "imagine"
      ],
      "properties": {
        "imagine": {
          "title": "imagine",
          "description": "The prompt, or a mapping with `prompt` and the other fields of the request.",
          "type": [
            "string",
            "object"
          ],
          "minLength": 1,
          "additionalProperties": false,
          "required": [
            "prompt"
          ],
          "properties": {
            "prompt": {
              "$ref": "#/$defs/prompt"
            },
            "botType": {
              "$ref": "#/$defs/botType"
            },
            "accountFilter": {
              "title": "Account filter",
              "description": "Which accounts of the service may draw it, for example `{ modes: [FAST] }`. Gateways may ignore it; `service.speed` is the reliable way to a speed.",
              "type": "object",
              "properties": {
                "modes": {
                  "title": "Modes",
                  "description": "Speeds in order of preference, in the service's words.",
                  "type": "array",
                  "items": {
                    "title": "Mode",
                    "type": "string",
                    "examples": [
                      "FAST",
                      "RELAX",
                      "TURBO"
                    ]
                  }
                }
              }
            },
            "images": {
              "$ref": "#/$defs/images",
              "title": "Image prompts",
              "description": "Images that the prompt goes with: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. With `gather`, the gathered images unless this names others."
            }
          }
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "gather": {
          "$ref": "#/$defs/gather"
        },
        "path": {
          "$ref": "#/$defs/path"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "grid": {
          "$ref": "#/$defs/grid"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    },
    "clickStep": {
      "title": "click",
      "description": "Presses a button of the step that `from` names. A path is short for such steps.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "click",
        "from"
      ],
      "properties": {
        "click": {
          "$ref": "#/$defs/selector",
          "title": "click",
          "description": "Which button to press: its label (`U1`), its emoji, a pattern for its customId (`/upsample::2::/`), or a word such as reroll or pan left. `A | B` is the first that is there."
        },
        "prompt": {
          "$ref": "#/$defs/modalPrompt"
        },
        "mask": {
          "$ref": "#/$defs/mask"
        },
        "remix": {
          "$ref": "#/$defs/remix"
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "path": {
          "$ref": "#/$defs/path"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "grid": {
          "$ref": "#/$defs/grid"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    },
    "blendStep": {
      "title": "blend",
      "description": "Blends 2 to 5 images into one.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "blend"
      ],
      "properties": {
        "blend": {
          "title": "blend",
          "description": "The images to blend. With `gather`, the gathered images unless `images` names others.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "images": {
              "$ref": "#/$defs/images",
              "description": "What is blended, 2 to 5 images: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. With `gather`, the gathered images unless this names others.",
              "minItems": 1,
              "maxItems": 5
            },
            "dimensions": {
              "title": "Dimensions",
              "description": "Shape of the result: portrait (2:3), square (1:1) or landscape (3:2). A template is possible.",
              "type": "string",
              "pattern": "^(portrait|square|landscape|PORTRAIT|SQUARE|LANDSCAPE)$|\\{\\{",
              "examples": [
                "portrait",
                "square",
                "landscape"
              ]
            },
            "botType": {
              "$ref": "#/$defs/botType"
            }
          }
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "gather": {
          "$ref": "#/$defs/gather"
        },
        "path": {
          "$ref": "#/$defs/path"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "grid": {
          "$ref": "#/$defs/grid"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    },
    "describeStep": {
      "title": "describe",
      "description": "Suggests four prompts for an image: later steps read them as `steps.<name>.prompts`, and its buttons (prompt 1 to prompt 4, reroll) draw them.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "describe"
      ],
      "properties": {
        "describe": {
          "title": "describe",
          "description": "The image to describe.",
          "type": "object",
          "additionalProperties": false,
          "required": [
            "image"
          ],
          "properties": {
            "image": {
              "$ref": "#/$defs/image"
            },
            "language": {
              "title": "Language",
              "description": "Of the suggested prompts, in the service's words. A template is possible.",
              "type": "string",
              "minLength": 1,
              "examples": [
                "en",
                "zh"
              ]
            },
            "botType": {
              "$ref": "#/$defs/botType"
            }
          }
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "path": {
          "$ref": "#/$defs/path"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    },
    "videoStep": {
      "title": "video",
      "description": "Image to video, or a longer one of a video.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "video"
      ],
      "properties": {
        "video": {
          "title": "video",
          "description": "The first frame and how it moves: `{ image, motion }`. Or `{ extend: 1 }` with `from:` a video step: its first video goes on.",
          "type": "object",
          "additionalProperties": false,
          "oneOf": [
            {
              "required": [
                "image"
              ]
            },
            {
              "required": [
                "extend"
              ]
            }
          ],
          "properties": {
            "image": {
              "$ref": "#/$defs/image",
              "description": "The first frame: a file relative to the pipeline, an http(s) address, a data URI, `parent` (the job this one continues), or `steps.<name>`."
            },
            "extend": {
              "title": "Extend",
              "description": "Which video of the step that `from` names goes on, counted from 1 as its buttons are. A template is possible.",
              "type": [
                "integer",
                "string"
              ],
              "minimum": 1,
              "maximum": 4,
              "pattern": "\\{\\{",
              "examples": [
                1,
                "{{ take }}"
              ]
            },
            "prompt": {
              "$ref": "#/$defs/prompt"
            },
            "motion": {
              "title": "Motion",
              "description": "How much moves: low or high. A template is possible.",
              "type": "string",
              "pattern": "^(low|high)$|\\{\\{",
              "examples": [
                "low",
                "high"
              ]
            },
            "endImage": {
              "$ref": "#/$defs/image",
              "title": "End image",
              "description": "The last frame: a file, an http(s) address, a data URI, `parent` or `steps.<name>`."
            },
            "loop": {
              "title": "Loop",
              "description": "The last frame leads back to the first. A template such as `{{ loop }}` is possible.",
              "type": [
                "boolean",
                "string"
              ],
              "pattern": "\\{\\{"
            },
            "batchSize": {
              "title": "Batch size",
              "description": "How many videos: 1, 2 or 4. A template such as `{{ size }}` is possible.",
              "type": [
                "integer",
                "string"
              ],
              "minimum": 1,
              "maximum": 4,
              "not": {
                "const": 3
              },
              "pattern": "\\{\\{",
              "examples": [
                1,
                2,
                4
              ]
            },
            "videoType": {
              "title": "Video type",
              "description": "Model and size, in the service's words.",
              "type": "string",
              "minLength": 1,
              "examples": [
                "vid_1.1_i2v_480",
                "vid_1.1_i2v_720"
              ]
            },
            "animateMode": {
              "title": "Animate mode",
              "description": "manual: as `prompt` says; auto: the service finds the prompt. A template is possible.",
              "type": "string",
              "pattern": "^(manual|auto)$|\\{\\{",
              "examples": [
                "manual",
                "auto"
              ]
            },
            "botType": {
              "$ref": "#/$defs/botType"
            }
          }
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "path": {
          "$ref": "#/$defs/path"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    },
    "editStep": {
      "title": "edit",
      "description": "Edits an image with a mask.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "edit"
      ],
      "properties": {
        "edit": {
          "title": "edit",
          "description": "The image, its mask, and what to draw.",
          "type": "object",
          "additionalProperties": false,
          "required": [
            "image",
            "prompt"
          ],
          "properties": {
            "image": {
              "$ref": "#/$defs/image"
            },
            "mask": {
              "$ref": "#/$defs/mask"
            },
            "prompt": {
              "$ref": "#/$defs/prompt"
            },
            "botType": {
              "$ref": "#/$defs/botType"
            }
          }
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "path": {
          "$ref": "#/$defs/path"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "grid": {
          "$ref": "#/$defs/grid"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    },
    "generateStep": {
      "title": "generate",
      "description": "Native text generation, with images, thinking, search, JSON and image output.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "generate"
      ],
      "properties": {
        "generate": {
          "title": "generate",
          "description": "The request: every native field by its native name, and short forms of the common ones.",
          "type": "object",
          "additionalProperties": false,
          "required": [
            "model"
          ],
          "oneOf": [
            {
              "required": [
                "prompt"
              ]
            },
            {
              "required": [
                "contents"
              ]
            }
          ],
          "properties": {
            "model": {
              "title": "Model",
              "description": "A model id from the service's list (`promptpress models`), a template.",
              "type": "string",
              "minLength": 1,
              "examples": [
                "text-pro",
                "{{ model }}"
              ]
            },
            "prompt": {
              "$ref": "#/$defs/prompt"
            },
            "images": {
              "$ref": "#/$defs/images",
              "description": "What the model is shown, before the text of the prompt: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. PNG, JPEG, WebP, GIF, AVIF or HEIC of at most 20 MiB each. With `gather`, the gathered images unless this names others."
            },
            "system": {
              "title": "System",
              "description": "Instructions for the whole conversation, a template. Short for `systemInstruction`.",
              "type": "string"
            },
            "thinking": {
              "title": "Thinking",
              "description": "A level (minimal, low, medium, high) for newer models, or a budget in tokens for earlier ones (0: off, -1: as the model likes). Short for `generationConfig.thinkingConfig`. Which one a model takes can be said under `models`.",
              "type": [
                "string",
                "integer"
              ],
              "pattern": "^(minimal|low|medium|high)$|\\{\\{",
              "minimum": -1,
              "examples": [
                "low",
                1024
              ]
            },
            "responseSchema": {
              "title": "Response schema",
              "description": "The answer is JSON of this schema (JSON Schema or the native subset), and is checked against it: templates of later steps read it as `steps.<name>.json`. Short for `generationConfig.responseSchema` with `responseMimeType: application/json`.",
              "type": "object",
              "examples": [
                {
                  "type": "object",
                  "properties": {
                    "best": {
                      "type": "integer"
                    }
                  },
                  "required": [
                    "best"
                  ]
                }
              ]
            },
            "search": {
              "title": "Search",
              "description": "true: web search grounding. Short for the search entry of `tools`.",
              "type": "boolean",
              "default": false
            },
            "maps": {
              "title": "Maps",
              "description": "true: maps grounding. Short for the maps entry of `tools`.",
              "type": "boolean",
              "default": false
            },
            "continue": {
              "title": "Continue",
              "description": "The earlier generate step whose turns come before this one: its own request and answer, and what it continued. Goes with `prompt`, not with `contents`.",
              "type": "string",
              "minLength": 1,
              "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,63}$",
              "examples": [
                "ask"
              ]
            },
            "stream": {
              "title": "Stream",
              "description": "true: the answer comes as a stream, which keeps long answers from running into time-outs of the way. Not part of a job's identity.",
              "type": "boolean",
              "default": false
            },
            "contents": {
              "title": "Contents",
              "description": "Conversation history and current input, native: items with `role` and `parts`.",
              "type": "array",
              "minItems": 1,
              "items": {
                "title": "Content",
                "description": "One turn: `{ role: user, parts: [{ text: … }] }`.",
                "type": "object"
              }
            },
            "systemInstruction": {
              "title": "System instruction",
              "description": "Instructions for the whole conversation, native: `{ parts: [{ text: … }] }`.",
              "type": "object"
            },
            "tools": {
              "title": "Tools",
              "description": "Function declarations, search grounding, maps grounding, code execution; native.",
              "type": "array",
              "items": {
                "title": "Tool",
                "description": "One native tools entry.",
                "type": "object"
              }
            },
            "toolConfig": {
              "title": "Tool configuration",
              "description": "How tools are used, such as the function-calling mode; native.",
              "type": "object"
            },
            "safetySettings": {
              "title": "Safety settings",
              "description": "Thresholds per harm category; native.",
              "type": "array",
              "items": {
                "title": "Safety setting",
                "description": "`{ category: …, threshold: … }`.",
                "type": "object"
              }
            },
            "generationConfig": {
              "title": "Generation configuration",
              "description": "temperature, maxOutputTokens, responseModalities and all else; native. Members not listed here are sent as they are.",
              "type": "object",
              "properties": {
                "temperature": {
                  "title": "Temperature",
                  "description": "Randomness, from 0 to 2. A template is possible.",
                  "type": [
                    "number",
                    "string"
                  ]
                },
                "topP": {
                  "title": "Top P",
                  "description": "Nucleus sampling, from 0 to 1. A template is possible.",
                  "type": [
                    "number",
                    "string"
                  ]
                },
                "topK": {
                  "title": "Top K",
                  "description": "How many of the likeliest tokens are considered. A template is possible.",
                  "type": [
                    "number",
                    "string"
                  ]
                },
                "maxOutputTokens": {
                  "title": "Output tokens",
                  "description": "The most tokens of an answer, thinking included. A template is possible.",
                  "type": [
                    "integer",
                    "string"
                  ]
                },
                "responseModalities": {
                  "title": "Response modalities",
                  "description": "What the answer is made of: `[TEXT, IMAGE]` makes images too.",
                  "type": [
                    "array",
                    "string"
                  ],
                  "items": {
                    "title": "Modality",
                    "type": "string",
                    "examples": [
                      "TEXT",
                      "IMAGE"
                    ]
                  }
                },
                "thinkingConfig": {
                  "title": "Thinking configuration",
                  "description": "`thinkingLevel` for newer models, `thinkingBudget` for earlier ones.",
                  "type": "object",
                  "properties": {
                    "thinkingLevel": {
                      "title": "Thinking level",
                      "description": "Of newer models: MINIMAL, LOW, MEDIUM or HIGH.",
                      "type": "string",
                      "examples": [
                        "LOW",
                        "HIGH"
                      ]
                    },
                    "thinkingBudget": {
                      "title": "Thinking budget",
                      "description": "Of earlier models: tokens; 0 is off, -1 as the model likes. A template is possible.",
                      "type": [
                        "integer",
                        "string"
                      ]
                    },
                    "includeThoughts": {
                      "title": "Include thoughts",
                      "description": "true: summaries of what the model thought come with the answer. They are no part of its text.",
                      "type": [
                        "boolean",
                        "string"
                      ]
                    }
                  }
                },
                "responseMimeType": {
                  "title": "Response MIME type",
                  "description": "`application/json` forces JSON.",
                  "type": "string"
                },
                "responseSchema": {
                  "title": "Response schema",
                  "description": "The schema that a JSON answer keeps to, and is checked against; needs `responseMimeType: application/json`.",
                  "type": "object"
                },
                "candidateCount": {
                  "title": "Candidates",
                  "description": "How many answers to make; each one is an output of the job. A template is possible.",
                  "type": [
                    "integer",
                    "string"
                  ]
                },
                "seed": {
                  "title": "Seed",
                  "description": "Seed of the sampling. A template is possible.",
                  "type": [
                    "integer",
                    "string"
                  ]
                },
                "stopSequences": {
                  "title": "Stop sequences",
                  "description": "Texts that end the answer where they would appear.",
                  "type": [
                    "array",
                    "string"
                  ],
                  "items": {
                    "title": "Stop sequence",
                    "type": "string"
                  }
                },
                "imageConfig": {
                  "title": "Image configuration",
                  "description": "Shape and size of images that the model makes: `{ aspectRatio: \"16:9\", imageSize: 2K }`.",
                  "type": "object"
                },
                "responseJsonSchema": {
                  "title": "Response JSON Schema",
                  "description": "The same as JSON Schema.",
                  "type": "object"
                }
              }
            },
            "cachedContent": {
              "title": "Cached content",
              "description": "Name of cached content used as context: `cachedContents/<id>`.",
              "type": "string",
              "minLength": 1
            },
            "functions": {
              "title": "Functions",
              "description": "Functions that the model may call, each with the answer it always gets, so that the conversation goes on by itself. Short for a `functionDeclarations` tool.",
              "type": "object",
              "minProperties": 1,
              "maxProperties": 128,
              "propertyNames": {
                "title": "function name",
                "description": "A letter or underscore, then letters, digits, underscores, dots and hyphens; at most 64.",
                "type": "string",
                "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"
              },
              "additionalProperties": {
                "title": "Function",
                "description": "A native function declaration without its name, and its `answer`.",
                "type": "object",
                "required": [
                  "answer"
                ],
                "properties": {
                  "description": {
                    "title": "Description",
                    "description": "What it does: the model chooses by it.",
                    "type": "string"
                  },
                  "parameters": {
                    "title": "Parameters",
                    "description": "Schema of its arguments; native.",
                    "type": "object"
                  },
                  "answer": {
                    "title": "Answer",
                    "description": "What every call of it is answered with: an object, or a text that becomes `{ result: … }`.",
                    "type": [
                      "object",
                      "string",
                      "number",
                      "boolean",
                      "array"
                    ]
                  }
                }
              },
              "examples": [
                {
                  "weather": {
                    "description": "Weather of a place",
                    "parameters": {
                      "type": "object",
                      "properties": {
                        "place": {
                          "type": "string"
                        }
                      }
                    },
                    "answer": {
                      "sky": "clear"
                    }
                  }
                }
              ]
            },
            "rounds": {
              "title": "Rounds",
              "description": "How often the model may call `functions` before it must have answered; each round is a call of the service.",
              "type": "integer",
              "minimum": 1,
              "maximum": 100,
              "default": 8
            },
            "code": {
              "title": "Code execution",
              "description": "true: the model may run code. Short for a `codeExecution` tool.",
              "type": "boolean",
              "default": false
            },
            "reply": {
              "title": "Reply",
              "description": "How JSON that was asked for is read. `lenient`: also behind thinking, among sentences, with trailing commas or raw control characters; the text stays as it was sent. `strict`: only where the answer is JSON, alone or in one code fence. Not part of a job's identity.",
              "enum": [
                "lenient",
                "strict"
              ],
              "default": "lenient"
            },
            "accept": {
              "title": "Accept",
              "description": "Finish reasons whose text is a result all the same, for example `[MAX_TOKENS]`. Not part of a job's identity.",
              "type": "array",
              "items": {
                "title": "Finish reason",
                "type": "string",
                "examples": [
                  "MAX_TOKENS"
                ],
                "minLength": 1,
                "maxLength": 200,
                "pattern": "^[^{}]*$",
                "description": "A finish reason as the service writes it; no template."
              }
            }
          }
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "gather": {
          "$ref": "#/$defs/gather"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    },
    "chatStep": {
      "title": "chat",
      "description": "The OpenAI-compatible chat endpoint.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "chat"
      ],
      "properties": {
        "chat": {
          "title": "chat",
          "description": "`{ model, messages }`, or `{ model, prompt, system, images }`.",
          "type": "object",
          "additionalProperties": false,
          "required": [
            "model"
          ],
          "oneOf": [
            {
              "required": [
                "prompt"
              ]
            },
            {
              "required": [
                "messages"
              ]
            }
          ],
          "properties": {
            "model": {
              "title": "Model",
              "description": "A model id from the service's list (`promptpress models`), a template.",
              "type": "string",
              "minLength": 1,
              "examples": [
                "text-pro",
                "{{ model }}"
              ]
            },
            "messages": {
              "title": "Messages",
              "description": "The conversation: items with `role` and `content`.",
              "type": "array",
              "minItems": 1,
              "items": {
                "title": "Message",
                "description": "`{ role: user, content: … }`.",
                "type": "object",
                "required": [
                  "role",
                  "content"
                ],
                "properties": {
                  "role": {
                    "title": "Role",
                    "description": "Who speaks.",
                    "type": "string",
                    "examples": [
                      "system",
                      "user",
                      "assistant"
                    ]
                  },
                  "content": {
                    "title": "Content",
                    "description": "Text, or a list of parts.",
                    "type": [
                      "string",
                      "array"
                    ],
                    "items": {
                      "title": "Part",
                      "description": "One part of the message.",
                      "type": "object"
                    }
                  }
                }
              }
            },
            "prompt": {
              "$ref": "#/$defs/prompt"
            },
            "system": {
              "title": "System",
              "description": "The system message, a template. Goes with `prompt`.",
              "type": "string"
            },
            "images": {
              "$ref": "#/$defs/images",
              "description": "What the model is shown, before the text of the prompt: files relative to the pipeline, http(s) addresses, data URIs, `parent` (the job this one continues) or `steps.<name>`. PNG, JPEG, WebP, GIF, AVIF or HEIC of at most 20 MiB each. With `gather`, the gathered images unless this names others."
            },
            "stream": {
              "title": "Stream",
              "description": "true: the answer comes as a stream, which keeps long answers from running into time-outs of the way. Not part of a job's identity.",
              "type": "boolean",
              "default": false
            },
            "reply": {
              "title": "Reply",
              "description": "How JSON that was asked for is read. `lenient`: also behind thinking, among sentences, with trailing commas or raw control characters; the text stays as it was sent. `strict`: only where the answer is JSON, alone or in one code fence. Not part of a job's identity.",
              "enum": [
                "lenient",
                "strict"
              ],
              "default": "lenient"
            },
            "accept": {
              "title": "Accept",
              "description": "Finish reasons whose text is a result all the same, for example `[length]`. Not part of a job's identity.",
              "type": "array",
              "items": {
                "title": "Finish reason",
                "type": "string",
                "examples": [
                  "length"
                ],
                "minLength": 1,
                "maxLength": 200,
                "pattern": "^[^{}]*$",
                "description": "A finish reason as the service writes it; no template."
              }
            },
            "temperature": {
              "title": "Temperature",
              "description": "Randomness, from 0 to 2. A template is possible.",
              "type": [
                "number",
                "string"
              ]
            },
            "response_format": {
              "title": "Response format",
              "description": "Native: `{ type: json_object }`, or `{ type: json_schema, json_schema: { name: …, schema: … } }`.",
              "type": "object"
            },
            "max_tokens": {
              "title": "Output tokens",
              "description": "The most tokens of an answer. A template is possible.",
              "type": [
                "integer",
                "string"
              ]
            }
          }
        },
        "from": {
          "$ref": "#/$defs/from"
        },
        "gather": {
          "$ref": "#/$defs/gather"
        },
        "when": {
          "$ref": "#/$defs/when"
        },
        "keep": {
          "$ref": "#/$defs/keep"
        },
        "extra": {
          "$ref": "#/$defs/extra"
        }
      }
    }
  }
};
