#include "flat_xml.h"

#include <string.h>

static int is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int begins_name(uint8_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static int in_name(uint8_t c) {
    return begins_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

int dd_text_is(dd_text text, const char *word) {
    return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}

static void advance(dd_text *rest, size_t size) {
    rest->at += size;
    rest->size -= size;
}

static size_t skip_space(dd_text *rest) {
    size_t size = 0;
    while (size < rest->size && is_space(rest->at[size]))
        size++;
    advance(rest, size);
    return size;
}

static int take(dd_text *rest, uint8_t c) {
    if (rest->size == 0 || *rest->at != c)
        return 0;
    advance(rest, 1);
    return 1;
}

static int take_name(dd_text *rest, dd_text *name) {
    size_t size = 0;
    if (rest->size == 0 || !begins_name(*rest->at))
        return 0;
    while (size < rest->size && in_name(rest->at[size]))
        size++;
    *name = (dd_text){rest->at, size};
    advance(rest, size);
    return 1;
}

/* Take a space, a name, and a value in quotes. */
static int take_attribute(dd_text *rest, dd_text *name, dd_text *value) {
    dd_text ahead = *rest;
    size_t size = 0;
    uint8_t quote;
    if (skip_space(&ahead) == 0 || !take_name(&ahead, name))
        return 0;
    skip_space(&ahead);
    if (!take(&ahead, '='))
        return 0;
    skip_space(&ahead);
    if (ahead.size == 0 || (*ahead.at != '"' && *ahead.at != '\''))
        return 0;
    quote = *ahead.at;
    advance(&ahead, 1);
    while (size < ahead.size && ahead.at[size] != quote && ahead.at[size] != '<')
        size++;
    *value = (dd_text){ahead.at, size};
    advance(&ahead, size);
    if (!take(&ahead, quote))
        return 0;
    *rest = ahead;
    return 1;
}

/* Take `<name attributes`, spaces before and behind it. */
static int take_tag(dd_text *rest, dd_element *element) {
    dd_text name, value;
    skip_space(rest);
    if (!take(rest, '<') || !take_name(rest, &element->name))
        return 0;
    element->attributes = *rest;
    while (take_attribute(rest, &name, &value))
        ;
    element->attributes.size -= rest->size;
    skip_space(rest);
    return 1;
}

static int take_end(dd_text *rest, dd_text opened) {
    dd_text name;
    if (!take(rest, '<') || !take(rest, '/') || !take_name(rest, &name))
        return 0;
    skip_space(rest);
    return name.size == opened.size && memcmp(name.at, opened.at, name.size) == 0 && take(rest, '>');
}

static int take_element(dd_text *rest, dd_element *element) {
    size_t size = 0;
    if (!take_tag(rest, element))
        return 0;
    element->content = (dd_text){rest->at, 0};
    if (take(rest, '/'))
        return take(rest, '>');
    if (!take(rest, '>'))
        return 0;
    while (size < rest->size && rest->at[size] != '<')
        size++;
    element->content = (dd_text){rest->at, size};
    advance(rest, size);
    return take_end(rest, element->name);
}

static int ends_next(dd_text rest) {
    skip_space(&rest);
    return rest.size >= 2 && rest.at[0] == '<' && rest.at[1] == '/';
}

/* Look through a whole message: a root of that name, elements without elements in them, spaces or zeros behind. */
int dd_xml_check(const uint8_t *packet, size_t size, const char *name, dd_element *root) {
    dd_text rest = {packet, size};
    dd_element element;
    if (size == 0 || size > DD_XML_LONGEST)
        return DD_WRONG_LENGTH;
    if (!take_tag(&rest, root) || !take(&rest, '>'))
        return DD_MALFORMED;
    if (!dd_text_is(root->name, name))
        return DD_WRONG_HEADER;
    root->content = rest;
    while (!ends_next(rest))
        if (!take_element(&rest, &element))
            return DD_MALFORMED;
    root->content.size -= rest.size;
    skip_space(&rest);
    if (!take_end(&rest, root->name))
        return DD_MALFORMED;
    for (; rest.size; advance(&rest, 1))
        if (!is_space(*rest.at) && *rest.at)
            return DD_MALFORMED;
    return DD_OK;
}

/* Find the first element of a name. */
int dd_xml_find(const dd_element *root, const char *name, dd_element *found) {
    dd_text rest = root->content;
    while (rest.size && take_element(&rest, found))
        if (dd_text_is(found->name, name))
            return 1;
    return 0;
}

dd_text dd_xml_stripped(dd_text text) {
    skip_space(&text);
    while (text.size && is_space(text.at[text.size - 1]))
        text.size--;
    return text;
}

int dd_xml_attribute(const dd_element *element, const char *name, dd_text *value) {
    dd_text rest = element->attributes, found;
    while (take_attribute(&rest, &found, value))
        if (dd_text_is(found, name))
            return 1;
    return 0;
}
