import { colourText, contrast, type Rgb, readableColour } from '../base/colour.ts';

/** The colour of buttons and links in the light and in the dark theme, as `#rrggbb`. */
export interface BrandColour {
  readonly light: string;
  readonly dark: string;
  /** The problem and its remedy; absent where the colour is readable. */
  readonly fault?: { readonly problem: string; readonly remedy: string };
}

/** The contrast that text needs (WCAG 2.2, 1.4.3). A shade that is chosen here has more. */
const CONTRAST_MIN = 4.5;
const CONTRAST_CHOSEN = 5.5;

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/**
 * The colours that the brand's is seen with on the pages (`assets/design/tokens.css`): the text of a button, and the
 * surface and ground under a link.
 */
const THEMES = {
  light: [WHITE, [0xf5, 0xf6, 0xfa]],
  dark: [
    [0x0c, 0x0f, 0x1a],
    [0x15, 0x1a, 0x2b],
  ],
} as const satisfies Readonly<Record<string, readonly Rgb[]>>;

/** The brand's colours. No colour can be read in both themes, so one alone gets a lighter shade for the dark. */
export function brandColours(light: Rgb, dark?: Rgb): BrandColour {
  const chosen = dark ?? readableColour(light, WHITE, THEMES.dark, CONTRAST_CHOSEN);
  const colour = { light: colourText(light), dark: colourText(chosen) };
  const fault = faultOf(light, 'light', BLACK) ?? faultOf(chosen, 'dark', WHITE);
  return fault ? { ...colour, fault } : colour;
}

function faultOf(colour: Rgb, theme: keyof typeof THEMES, towards: Rgb): BrandColour['fault'] {
  const worst = Math.min(...THEMES[theme].map((one) => contrast(colour, one)));
  if (worst >= CONTRAST_MIN) return undefined;
  const ratio = (Math.floor(worst * 10) / 10).toFixed(1);
  const other = colourText(readableColour(colour, towards, THEMES[theme], CONTRAST_MIN));
  return {
    problem: `has a contrast of ${ratio}:1 in the ${theme} theme, which is under ${CONTRAST_MIN}:1`,
    remedy: `${other} can be read there`,
  };
}
