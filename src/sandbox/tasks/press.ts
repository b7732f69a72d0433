import type { Drawing } from '../draw/drawing.ts';
import {
  enlargeDrawing,
  imagineDrawing,
  panDrawing,
  strongDrawing,
  subtleDrawing,
  upscaleDrawing,
  zoomDrawing,
} from '../draw/lineage.ts';
import { parsePrompt } from '../prompt/flags.ts';
import type { Press } from './buttons.ts';
import type { ButtonSet, OperationClass, StoredTask, TaskAction } from './task.ts';

/** What a press makes of the task it is pressed on. */
export interface Pressed {
  readonly action: TaskAction;
  readonly operation: OperationClass;
  readonly buttonSet: ButtonSet;
  readonly drawing: Drawing;
  /** `always` for the two buttons of service.md 2.3, `remix` for those that open one only with enableRemix (protocol.md 3). */
  readonly modal: 'always' | 'remix' | 'never';
}

/** The operation behind a button; undefined for what the sandbox does not carry out yet. */
export function pressOn(parent: StoredTask, press: Press): Pressed | undefined {
  const { drawing } = parent;
  switch (press.kind) {
    case 'upscale':
      return {
        action: 'UPSCALE',
        operation: 'upscale',
        buttonSet: 'single',
        drawing: upscaleDrawing(drawing, press.index),
        modal: 'never',
      };
    case 'enlarge':
      return {
        action: 'UPSCALE_HD',
        operation: 'enlarge',
        buttonSet: 'enlarged',
        drawing: enlargeDrawing(drawing, press.creative),
        modal: 'never',
      };
    case 'variation':
      return {
        action: 'VARIATION',
        operation: 'variation',
        buttonSet: 'grid',
        drawing: strongDrawing(drawing, press.index, 'variation'),
        modal: 'remix',
      };
    case 'vary':
      return {
        action: press.strong ? 'HIGH_VARIATION' : 'LOW_VARIATION',
        operation: 'variation',
        buttonSet: 'grid',
        drawing: press.strong ? strongDrawing(drawing, 0, 'strong') : subtleDrawing(drawing),
        modal: 'remix',
      };
    case 'reroll': {
      const again = drawing.frames.map((frame) => frame.seed).join();
      return {
        action: 'REROLL',
        operation: 'imagine',
        buttonSet: 'grid',
        drawing: imagineDrawing(parsePrompt(parent.prompt), [], again),
        modal: 'remix',
      };
    }
    case 'zoom':
      return {
        action: 'ZOOM',
        operation: 'outpaint',
        buttonSet: 'grid',
        drawing: zoomDrawing(drawing, press.factor),
        modal: 'never',
      };
    case 'pan':
      return {
        action: 'PAN',
        operation: 'outpaint',
        buttonSet: 'grid',
        drawing: panDrawing(drawing, press.direction),
        modal: 'remix',
      };
    case 'inpaint':
      return { action: 'INPAINT', operation: 'variation', buttonSet: 'grid', drawing, modal: 'always' };
    case 'custom-zoom':
      return { action: 'CUSTOM_ZOOM', operation: 'outpaint', buttonSet: 'grid', drawing, modal: 'always' };
    case 'animate':
      return undefined;
  }
}
