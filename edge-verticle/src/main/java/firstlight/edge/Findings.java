package firstlight.edge;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds in a text what is to be redacted: secrets, numbers of payment cards, e-mail addresses. They
 * are looked for where a few telling characters stand, so that prose is passed over quickly; and
 * every pattern is of bounded length, so that no text makes it slow.
 */
sealed interface Findings {
  /** A place in the text. */
  record Place(int start, int end) {}

  /** Keys of well-known services, JSON web tokens, private keys. */
  List<Findings> SECRETS =
      List.of(
          new Begun("sk-", Pattern.compile("sk-[A-Za-z0-9_-]{16,512}"), 600),
          new Begun("sk_", Pattern.compile("sk_(?:live|test)_[A-Za-z0-9]{10,256}"), 300),
          new Begun("rk_", Pattern.compile("rk_(?:live|test)_[A-Za-z0-9]{10,256}"), 300),
          new Begun("ghp_", Pattern.compile("ghp_[A-Za-z0-9]{30,256}"), 300),
          new Begun("gho_", Pattern.compile("gho_[A-Za-z0-9]{30,256}"), 300),
          new Begun("ghs_", Pattern.compile("ghs_[A-Za-z0-9]{30,256}"), 300),
          new Begun("ghu_", Pattern.compile("ghu_[A-Za-z0-9]{30,256}"), 300),
          new Begun("github_pat_", Pattern.compile("github_pat_[A-Za-z0-9_]{30,256}"), 300),
          new Begun("xox", Pattern.compile("xox[abprs]-[A-Za-z0-9-]{10,256}"), 300),
          new Begun("AKIA", Pattern.compile("AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"), 24),
          new Begun("AIza", Pattern.compile("AIza[0-9A-Za-z_-]{30,64}"), 80),
          new Begun(
              "eyJ",
              Pattern.compile(
                  "eyJ[A-Za-z0-9_-]{8,256}\\.[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8,2048}"),
              16_384),
          new Begun(
              "-----BEGIN ",
              Pattern.compile(
                  "-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[^-]{0,16384}"
                      + "(?:-----END [A-Z ]{0,32}PRIVATE KEY-----)?"),
              17_000));

  /** No place. */
  Place NONE = new Place(-1, -1);

  /** The first place at or after {@code from}; {@link #NONE} when there is none. */
  Place next(String text, int from);

  /**
   * What begins with a word, where no letter or digit is before it.
   *
   * @param word how it begins
   * @param whole all of it, from its beginning
   * @param lengthMax most characters it can have
   */
  record Begun(String word, Pattern whole, int lengthMax) implements Findings {
    @Override
    public Place next(String text, int from) {
      for (int at = text.indexOf(word, from); at >= 0; at = text.indexOf(word, at + 1)) {
        if (at > 0 && Character.isLetterOrDigit(text.charAt(at - 1))) {
          continue;
        }
        Matcher matcher =
            whole.matcher(text).region(at, (int) Math.min(text.length(), (long) at + lengthMax));
        if (matcher.lookingAt()) {
          return new Place(at, matcher.end());
        }
      }
      return NONE;
    }
  }

  /** Numbers of 13 to 19 digits with the check digit of ISO/IEC 7812, perhaps in groups. */
  record Cards() implements Findings {
    private static final int DIGITS_MIN = 13;
    private static final int DIGITS_MAX = 19;

    @Override
    public Place next(String text, int from) {
      int at = from;
      while (at < text.length()) {
        if (!isDigit(text, at)) {
          at++;
          continue;
        }
        int end = run(text, at);
        int digits = (int) text.substring(at, end).chars().filter(Character::isDigit).count();
        if (digits >= DIGITS_MIN && digits <= DIGITS_MAX && hasCheckDigit(text, at, end)) {
          return new Place(at, end);
        }
        at = end;
      }
      return NONE;
    }

    /** The end of the digits that begin there, single blanks and hyphens between them included. */
    private static int run(String text, int start) {
      int end = start + 1;
      while (isDigit(text, end) || (isGap(text, end) && isDigit(text, end + 1))) {
        end++;
      }
      return end;
    }

    private static boolean isDigit(String text, int at) {
      return at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9';
    }

    private static boolean isGap(String text, int at) {
      return at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '-');
    }

    private static boolean hasCheckDigit(String text, int start, int end) {
      int sum = 0;
      boolean twice = false;
      for (int i = end - 1; i >= start; i--) {
        if (isDigit(text, i)) {
          int digit = text.charAt(i) - '0';
          int value = twice ? 2 * digit : digit;
          sum += value > 9 ? value - 9 : value;
          twice = !twice;
        }
      }
      return sum % 10 == 0;
    }
  }

  /** Addresses: a name, an at sign, a domain. */
  record Emails() implements Findings {
    private static final int NAME_MAX = 64;
    private static final int DOMAIN_MAX = 255;
    private static final Pattern DOMAIN =
        Pattern.compile("[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){0,7}\\.[A-Za-z]{2,24}");

    @Override
    public Place next(String text, int from) {
      for (int at = text.indexOf('@', from); at >= 0; at = text.indexOf('@', at + 1)) {
        int start = at;
        while (start > from && at - start < NAME_MAX && isName(text.charAt(start - 1))) {
          start--;
        }
        Matcher domain =
            DOMAIN.matcher(text).region(at + 1, Math.min(text.length(), at + 1 + DOMAIN_MAX));
        if (start < at && domain.lookingAt()) {
          return new Place(start, domain.end());
        }
      }
      return NONE;
    }

    private static boolean isName(char c) {
      return (c >= 'a' && c <= 'z')
          || (c >= 'A' && c <= 'Z')
          || (c >= '0' && c <= '9')
          || "._%+-".indexOf(c) >= 0;
    }
  }

  /** What an operator has written, in the syntax of RE2. */
  record Written(com.google.re2j.Pattern pattern) implements Findings {
    @Override
    public Place next(String text, int from) {
      com.google.re2j.Matcher matcher = pattern.matcher(text);
      int at = from;
      while (at <= text.length() && matcher.find(at)) {
        if (matcher.end() > matcher.start()) {
          return new Place(matcher.start(), matcher.end());
        }
        at = matcher.end() + 1;
      }
      return NONE;
    }
  }
}
