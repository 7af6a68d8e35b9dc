package quality

// A Measure is a figure of a text; its name is also the reason for which a document that is out of bounds is left out.
type Measure string

// The measures, in the order in which [Rules] checks them. "Share" and "per" are ratios; only those over n-grams can exceed 1.
const (
	// Words is the number of words.
	Words Measure = "words"
	// MeanWordLength is the letters and digits per word.
	MeanWordLength Measure = "mean_word_length"
	// Lines is the number of lines.
	Lines Measure = "lines"
	// LongestLine is the characters of the longest line, indentation included.
	LongestLine Measure = "longest_line"
	// MeanLineLength is the characters per line, indentation included.
	MeanLineLength Measure = "mean_line_length"
	// LanguageScore is how sure the language is English: the score of the document if it names no language or English, 0 if it
	// names another one. A document with neither has no such figure.
	LanguageScore Measure = "language_score"
	// LetterShare is the share of letters among the characters that are no white space.
	LetterShare Measure = "letter_share"
	// WordsWithLetter is the share of words that have a letter.
	WordsWithLetter Measure = "words_with_letter"
	// StopWords is how many of "the", "be", "to", "of", "and", "that", "have" and "with" occur, in any case.
	StopWords Measure = "stop_words"
	// HashesPerWord is the number of "#" per word.
	HashesPerWord Measure = "hashes_per_word"
	// EllipsesPerWord is the number of ellipses, "…" or three full stops, per word.
	EllipsesPerWord Measure = "ellipses_per_word"
	// BulletLines is the share of lines that begin, after white space, with one of "•‣◦▪●○", or with "-", "*" or "+" and a blank.
	BulletLines Measure = "bullet_lines"
	// EllipsisLines is the share of lines that end, before white space, with "…" or "...".
	EllipsisLines Measure = "ellipsis_lines"
	// DigitShare is the share of digits among the characters that are no white space.
	DigitShare Measure = "digit_share"
	// DuplicateLines is the share of lines that equal an earlier one. White space around a line does not count.
	DuplicateLines Measure = "duplicate_lines"
	// DuplicateLineChars is the characters of such lines, without the white space around them, per character of the text.
	DuplicateLineChars Measure = "duplicate_line_chars"
	// Top2Gram is the characters of the most frequent pair of words that occurs more than once, times how often it occurs, per
	// character of the text. The characters are those of the words and one between each two; of pairs as frequent the longest one
	// counts, and overlapping ones all count, so that it can exceed 1.
	Top2Gram Measure = "top_2gram"
	// Top3Gram is the same for 3 words.
	Top3Gram Measure = "top_3gram"
	// Top4Gram is the same for 4 words.
	Top4Gram Measure = "top_4gram"
	// Duplicate5Grams is the characters of the words in repeated runs of 5 words, per character of the text. The text is read
	// from its start: a run that has been seen counts, and reading goes on behind it; else it is noted, and reading goes on
	// with the next word. So no word counts twice.
	Duplicate5Grams Measure = "duplicate_5grams"
	// Duplicate6Grams is the same for 6 words.
	Duplicate6Grams Measure = "duplicate_6grams"
	// Duplicate7Grams is the same for 7 words.
	Duplicate7Grams Measure = "duplicate_7grams"
	// Duplicate8Grams is the same for 8 words.
	Duplicate8Grams Measure = "duplicate_8grams"
	// Duplicate9Grams is the same for 9 words.
	Duplicate9Grams Measure = "duplicate_9grams"
	// Duplicate10Grams is the same for 10 words.
	Duplicate10Grams Measure = "duplicate_10grams"
	// ReplacementChars is the share of U+FFFD among all characters.
	ReplacementChars Measure = "replacement_chars"
	// SingleLetterWords is the share of words that are one letter, as where a scan was read badly.
	SingleLetterWords Measure = "single_letter_words"
	// URLChars is the share of the characters of addresses among all characters. An address begins with "http://", "https://"
	// or "www." in any case, not within a word, and ends before white space or one of "<>\"`)]}".
	URLChars Measure = "url_chars"
	// CommentLines is the share of lines that begin, after white space, with a comment sign of the document's syntax, or lie in
	// a block comment that began so; the strings that document Python code are comments. A syntax without a known sign has no
	// such figure.
	CommentLines Measure = "comment_lines"
	// CharsPerToken is the characters per token, as [midtool.ApproxTokens] counts them.
	CharsPerToken Measure = "chars_per_token"
)
