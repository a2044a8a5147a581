"""English words that name a gender."""

from __future__ import annotations

from skbiasamp._input.checks import check_option
from skbiasamp._input.keywords import keywords

# Words and their plurals. Left out: words that mean something else more often ("miss", "chick",
# "buck"), and traits that only correlate with a gender ("pregnant", "beard").
_FEMALE = """
woman women womens female females feminine womanly womanhood
she her hers herself
girl girls girly schoolgirl schoolgirls cowgirl cowgirls girlfriend girlfriends
lady ladies landlady landladies gal gals lass lasses madam ma'am mrs ms mademoiselle
mother mothers mom moms mommy mommies momma mum mums mama mamas ma
grandmother grandmothers grandma grandmas granny grannies stepmother stepmothers
godmother godmothers mother-in-law mothers-in-law
daughter daughters granddaughter granddaughters stepdaughter stepdaughters
daughter-in-law daughters-in-law
sister sisters stepsister stepsisters sister-in-law sisters-in-law
aunt aunts auntie aunties niece nieces
wife wives housewife housewives widow widows fiancée fiancées fiancee fiancees
bride brides bridesmaid bridesmaids
actress actresses waitress waitresses hostess hostesses stewardess stewardesses
seamstress seamstresses ballerina ballerinas heroine heroines goddess goddesses
doorwoman doorwomen princess princesses queen queens duchess duchesses empress empresses nun nuns
"""
_MALE = """
man men mans mens male males masculine manly manhood
he him his himself
boy boys boyish schoolboy schoolboys cowboy cowboys boyfriend boyfriends
gentleman gentlemen gent gents landlord landlords guy guys dude dudes lad lads fella fellas
sir mr mister
father fathers dad dads daddy daddies papa papas
grandfather grandfathers grandpa grandpas granddad granddads stepfather stepfathers
godfather godfathers father-in-law fathers-in-law
son sons grandson grandsons stepson stepsons son-in-law sons-in-law
brother brothers bro bros stepbrother stepbrothers brother-in-law brothers-in-law
uncle uncles nephew nephews
husband husbands househusband househusbands widower widowers fiancé fiancés fiance fiances
groom grooms bridegroom bridegrooms groomsman groomsmen
actor actors waiter waiters steward stewards
doorman doormen prince princes king kings duke dukes emperor emperors monk monks
"""
# What "man" and "woman" end.
_COMPOUNDS = """
alder anchor bats bar base business camera chair congress council country crafts fire fisher
fore front gun handy horse lay mail middle milk noble police post repair sales service show spokes
sports states stunt work yachts
"""


@keywords()
def gender_words(gender: str | None = None) -> list[str]:
    """Return English words that name a gender: nouns, pronouns, family and titles.

    Parameters
    ----------
    gender : {"female", "male"}, default=None
        "female" and "male": the words of this gender. None: all of them.

    Returns
    -------
    words : list of str
        Words with their plurals, sorted.

    Notes
    -----
    Pairs such as "waiter" and "waitress" are both in the list. A text without "waitress" but
    with "waiter" would still reveal the gender.

    Examples
    --------
    >>> from skbiasamp.text import gender_words
    >>> "policewomen" in gender_words("female"), "surgeon" in gender_words()
    (True, False)
    """
    check_option("gender", gender, (None, "female", "male"))
    compounds = _COMPOUNDS.split()
    words = {
        "female": [*_FEMALE.split(), *(c + end for c in compounds for end in ("woman", "women"))],
        "male": [*_MALE.split(), *(c + end for c in compounds for end in ("man", "men"))],
    }
    return sorted(words["female"] + words["male"] if gender is None else words[gender])
